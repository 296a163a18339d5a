"""The guard in front of every route, asked with requests that no server would make easily."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.server.headers import SecurityHeaders, inline_scripts, policy
from core.server.hosts import WRONG_HOST, WRONG_ORIGIN, AsgiMessage, HostGuard, is_shared, own_names


async def nothing(_scope: AsgiMessage, _receive: Any, _send: Any) -> None:
    """An app behind the guard."""


def scope(
    host: str = "127.0.0.1:8501", *, here: str = "127.0.0.1", method: str = "GET", **headers: str
) -> AsgiMessage:
    listed = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {
        "type": "websocket" if method == "WS" else "http",
        "method": method,
        "server": (here, 8501),
        "headers": [(b"host", host.encode("latin-1")), *listed],
    }


def guard(address: str | None = "127.0.0.1", *hosts: str) -> HostGuard:
    return HostGuard(nothing, own_names(address, hosts), is_shared(address, hosts))


def sent_by(app: Any, asked: AsgiMessage) -> list[AsgiMessage]:
    """Return the messages that an app sends in answer to a request."""
    sent: list[AsgiMessage] = []

    async def send(message: AsgiMessage) -> None:
        sent.append(message)

    asyncio.run(app(asked, nothing, send))
    return sent


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "LOCALHOST", "[::1]:8501"])
def test_the_machine_s_own_names_are_answered(host: str) -> None:
    assert guard().refusal(scope(host)) == ""


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8501", "127.0.0.1.evil.example", "localhost.evil.example"),
        *("evil.example@127.0.0.1", "127.0.0.1/evil", "127.0.0.1, evil.example", "", " ", "*"),
        *("[::1", "[::1]evil", "[::2]", "[127.0.0.1.evil]", "127.0.0.1:evil", "127.0.0.1;x"),
        *("0x7f000001", "2130706433", "127.1", "localhost.", "0.0.0.0", "192.168.1.5"),
        *("\xb9\xb2\xb7.0.0.1", "127.0.0.1\t", "127.0.0.1\nevil.example"),
    ],
)
def test_no_other_name_is_answered(host: str) -> None:
    assert guard().refusal(scope(host)) == WRONG_HOST


def test_two_hosts_or_none_are_refused() -> None:
    twice = scope("localhost")
    twice["headers"].append((b"Host", b"evil.example"))
    none = {**scope(), "headers": []}
    assert guard().refusal(twice) == guard().refusal(none) == WRONG_HOST


def test_an_operator_s_names_are_answered() -> None:
    named = guard("127.0.0.1", "explorer.example.org", "*.school.example")
    for host in ("explorer.example.org", "a.school.example:443", "b.a.school.example", "localhost"):
        assert named.refusal(scope(host)) == "", host
    for host in ("school.example", "evilschool.example", "x.explorer.example.org"):
        assert named.refusal(scope(host)) == WRONG_HOST, host
    assert guard("0.0.0.0", "*").refusal(scope("any.example", here="10.0.0.7")) == ""


def test_bound_to_all_addresses_each_is_answered_where_it_is_met() -> None:
    for address in ("0.0.0.0", "::", None, ""):
        wide = guard(address)
        assert wide.refusal(scope("10.0.0.7:8501", here="10.0.0.7")) == ""
        assert wide.refusal(scope("10.0.0.7", here="::ffff:10.0.0.7")) == ""
        assert wide.refusal(scope("[fe80::7]", here="fe80:0::7")) == ""
        assert wide.refusal(scope("10.0.0.8", here="10.0.0.7")) == WRONG_HOST
        assert wide.refusal(scope("evil.example", here="10.0.0.7")) == WRONG_HOST


def test_bound_to_one_address_it_is_a_name() -> None:
    assert guard("lab.local").refusal(scope("lab.local:8501", here="10.0.0.7")) == ""
    assert guard("10.0.0.7").refusal(scope("10.0.0.7:8501", here="10.0.0.7")) == ""


def test_what_the_app_was_not_told_of_is_refused() -> None:
    """A server that listens wider than its settings say, and a proxy before it."""
    assert guard().refusal(scope("localhost", here="10.0.0.7")) == WRONG_HOST
    assert guard().refusal(scope("localhost", here="")) == WRONG_HOST
    for name in ("x_forwarded_for", "x_forwarded_proto", "via", "x_real_ip", "cf_connecting_ip"):
        assert guard().refusal(scope(**{name: "1.1 x"})) == WRONG_HOST, name
    assert guard("127.0.0.1", "a.example").refusal(scope("a.example", forwarded="for=x")) == ""


@pytest.mark.parametrize("method", ["WS", "PUT", "POST", "DELETE", "PATCH"])
def test_another_site_s_page_may_not_act(method: str) -> None:
    assert guard().refusal(scope(method=method)) == ""
    assert guard().refusal(scope(method=method, origin="http://127.0.0.1:8501")) == ""
    hosts = ("evil.example", "127.0.0.1:3000", "localhost:8501", "a@127.0.0.1:8501")
    for origin in (*(f"http://{host}" for host in hosts), "null", "", "evil://127.0.0.1:8501"):
        assert guard().refusal(scope(method=method, origin=origin)) == WRONG_ORIGIN, origin


def test_only_what_is_addressed_to_the_machine_itself_is_its_own() -> None:
    for address in ("127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2"):
        assert not is_shared(address, ())
    assert not is_shared("127.0.0.1", ("localhost",))
    for address in (None, "", "0.0.0.0", "::", "192.168.1.5", "lab.local"):
        assert is_shared(address, ())
    assert is_shared("127.0.0.1", ("explorer.example.org",))


def test_a_refused_websocket_is_never_accepted() -> None:
    sent = sent_by(guard(), scope("evil.example", method="WS"))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_a_refusal_carries_the_headers_too() -> None:
    headers = dict(sent_by(guard(), scope("evil.example"))[0]["headers"])
    assert {b"content-security-policy", b"x-frame-options", b"referrer-policy"} < headers.keys()
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_the_app_s_own_headers_are_replaced() -> None:
    async def app(_scope: AsgiMessage, _receive: Any, send: Any) -> None:
        headers = [(b"X-Frame-Options", b"ALLOWALL"), (b"content-type", b"text/html")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    sent_headers = dict(sent_by(SecurityHeaders(app), scope())[0]["headers"])
    assert sent_headers[b"x-frame-options"] == b"DENY" and b"X-Frame-Options" not in sent_headers
    assert sent_headers[b"x-content-type-options"] == b"nosniff"
    assert sent_headers[b"referrer-policy"] == b"same-origin"
    assert b"frame-ancestors 'none'" in sent_headers[b"content-security-policy"]
    framed = dict(sent_by(SecurityHeaders(app, ["https://a.example"]), scope())[0]["headers"])
    assert b"x-frame-options" not in framed
    assert framed[b"content-security-policy"].endswith(b"frame-ancestors https://a.example")


def test_the_policy_names_the_page_s_own_websocket() -> None:
    assert "connect-src 'self' ws://[::1]:8501 wss://[::1]:8501;" in policy("[::1]:8501")


def test_scripts_in_place_run_by_their_hash_alone() -> None:
    hashes = inline_scripts("<script src='a.js'></script><script>alert(1)</script>")
    assert hashes == ("'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='",)
    header = policy("localhost", (), hashes)
    assert f"script-src 'self' blob: {hashes[0]};" in header
    assert "unsafe-eval" not in header and "script-src 'unsafe-inline'" not in header
