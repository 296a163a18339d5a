"""Guard of hosts and origins: the app answers to its own names, and to no other site's pages.

A page of a stranger's site may have its name point at this machine after it was loaded (DNS
rebinding): the browser then takes the app for a part of that site. The name in `Host` tells.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeAlias

from .api.endpoints import V1

AsgiMessage: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[AsgiMessage]]
Send: TypeAlias = Callable[[AsgiMessage], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[AsgiMessage, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
WRONG_HOST = (
    "The app doesn't answer to this name. Who runs it can add the name to "
    "DECODING_EXPLORER_HOSTS (see docs/security.md).\n"
)
WRONG_ORIGIN = "Another site's page asked for this, which the app doesn't allow.\n"
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::[0-9]{1,5})?")
# What proxies and tunnels add.
_FORWARDED = re.compile(rb"forwarded|x-forwarded-.*|x-real-ip|via|cf-.*|true-client-ip|x-client-ip")


def own_names(address: str | None, hosts: Iterable[str]) -> frozenset[str]:
    """Return the host names of the app: loopback, the bound address and the operator's names.

    Args:
        address: the bound one; empty, `0.0.0.0` or `::` means all addresses and adds no name.
    """
    bound = (address or "").lower().strip("[]")
    wildcard = bound == "" or (_is_ip(bound) and ip_address(bound).is_unspecified)
    return LOOPBACK | frozenset(hosts) | (frozenset() if wildcard else {bound})


def is_shared(address: str | None, hosts: Iterable[str]) -> bool:
    """Return whether others than the users of this machine may be meant to reach the app."""
    bound = (address or "").lower().strip("[]")
    local = bound in LOOPBACK or (_is_ip(bound) and ip_address(bound).is_loopback)
    return not local or bool(frozenset(hosts) - LOOPBACK)


class HostGuard:
    """Middleware that refuses what is addressed to another host or sent by another site's page.

    Args:
        names: of the app; `*.example.org` for all names below it, `*` for any.
        shared: others than this machine's users are meant to reach the app. Where they aren't,
            what comes over another address of the machine, or through a proxy, is refused: the
            server was bound to more than the app was told.
        api_origins: origins whose pages may ask what lies below `/v1`.
    """

    def __init__(
        self, app: ASGIApp, names: Iterable[str], shared: bool, api_origins: Iterable[str] = ()
    ) -> None:
        self.app = app
        self.names = frozenset(names)
        self.api_origins = tuple(api_origins)
        self.shared = shared

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        refusal = self.refusal(scope) if scope["type"] in ("http", "websocket") else ""
        if not refusal:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await answer(send, 421 if refusal == WRONG_HOST else 403, refusal)

    def refusal(self, scope: AsgiMessage) -> str:
        """Return the reason to refuse a request; empty where there is none."""
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        here = str((scope.get("server") or ("",))[0])
        if len(hosts) != 1 or not self._answers_to(hosts[0], here):
            return WRONG_HOST
        local = _is_ip(here) and ip_address(_plain(here)).is_loopback
        outside = not local or any(_FORWARDED.fullmatch(name) for name, _ in headers)
        if outside and not self.shared:
            return WRONG_HOST
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        acts = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        allowed = [f"{scheme}://{hosts[0]}" for scheme in ("http", "https")]
        if self.api_origins and scope["path"].startswith(f"{V1}/"):
            allowed += self.api_origins
        if acts and any(origin not in allowed for origin in origins):
            return WRONG_ORIGIN
        return ""

    def _answers_to(self, host: str, here: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None or (match["v6"] and not _is_ip(match["v6"])):
            return False
        name = match["name"] or match["v6"]
        return (
            "*" in self.names
            or _plain(name) in map(_plain, (*self.names, here))
            or any(
                pattern.startswith("*.") and name.endswith(pattern[1:]) for pattern in self.names
            )
        )


async def answer(send: Send, status: int, text: str) -> None:
    """Answer a request with a sentence, and nothing else."""
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _plain(text: str) -> str:
    """Return an address in one spelling; a name as it is."""
    if not _is_ip(text):
        return text
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
