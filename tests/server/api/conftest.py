from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from core import load_model
from tests.server.api.served import NAMES, Served, served


@pytest.fixture(scope="session")
def models() -> dict[str, Any]:
    return {name: load_model(name) for name in NAMES}


@pytest.fixture(scope="session")
def endpoint(models: dict[str, Any]) -> Iterator[Served]:
    with served(lambda where, should_stop: models[where]) as server:  # noqa: ARG005
        yield server


@pytest.fixture(scope="session")
def client(endpoint: Served) -> openai.OpenAI:
    return endpoint.client()
