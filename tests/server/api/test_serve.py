"""The endpoint without the pages: who it may be bound for."""

from __future__ import annotations

import pytest

from core.decoding.errors import ConfigError
from core.server.api.serve import endpoint
from core.server.settings import Settings


def test_another_address_or_name_needs_a_key() -> None:
    for address, settings in (
        ("0.0.0.0", Settings()),
        ("", Settings()),
        ("127.0.0.1", Settings(hosts=("api.example.org",))),
    ):
        with pytest.raises(ConfigError, match="has no key"):
            endpoint(address, settings)
    assert endpoint("127.0.0.1", Settings())
    assert endpoint("0.0.0.0", Settings(api_keys=("a-key-of-many-letters",)))
