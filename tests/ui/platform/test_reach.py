"""The visitor's address, with and without a proxy in front."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.server.settings import Settings
from pages.ui.platform import reach


@pytest.mark.parametrize(
    ("peer", "header", "hosts", "address"),
    [
        (None, None, (), ""),
        ("192.168.1.7", None, (), "192.168.1.7"),
        # Without a proxy the header is the visitor's own word.
        ("192.168.1.7", "10.1.1.1", (), "192.168.1.7"),
        (None, "203.0.113.9", ("explorer.example.org",), "203.0.113.9"),
        ("10.0.0.2", "1.1.1.1, 203.0.113.9", ("explorer.example.org",), "203.0.113.9"),
        ("10.0.0.2", None, ("explorer.example.org",), "10.0.0.2"),
        ("10.0.0.2", "x" * 999, ("explorer.example.org",), "x" * 45),
    ],
)
def test_the_visitor_s_address_is_the_peer_s_or_the_proxy_s_word(
    monkeypatch: pytest.MonkeyPatch,
    peer: str | None,
    header: str | None,
    hosts: tuple[str, ...],
    address: str,
) -> None:
    headers = {} if header is None else {"X-Forwarded-For": header}
    context = SimpleNamespace(ip_address=peer, headers=headers)
    monkeypatch.setattr(reach.st, "context", context)
    monkeypatch.setattr(reach, "settings", lambda: Settings(hosts=hosts))
    assert reach.client() == address
