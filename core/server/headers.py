"""Security headers: the sources that a page may load, and the sites that may frame it."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence

from .hosts import ASGIApp, AsgiMessage, Receive, Send

_POLICY = (
    "default-src 'self'",
    # Streamlit and Plotly style elements in place.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
)


def inline_scripts(html: str) -> tuple[str, ...]:
    """Return the hashes with which a content security policy allows a page's inline scripts."""
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return tuple(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)


def policy(host: str, frames: Sequence[str] = (), scripts: Sequence[str] = ()) -> str:
    """Return the content security policy.

    Args:
        host: as the browser wrote it, with its port: not every browser counts a page's own
            websocket as `'self'`.
        frames: origins whose pages may frame this one.
        scripts: further sources of scripts.
    """
    # Streamlit loads a component's script from a blob.
    sources = " ".join(("script-src 'self' blob:", *scripts))
    sockets = f"connect-src 'self' ws://{host} wss://{host}"
    ancestors = " ".join(frames) or "'none'"
    return "; ".join((*_POLICY, sources, sockets, f"frame-ancestors {ancestors}"))


class SecurityHeaders:
    """Middleware that adds the headers; behind `HostGuard`, which has looked at the host.

    Args:
        frames: origins whose pages may show the app in a frame; none by default.
        scripts: further sources of scripts, such as the hashes of those in place.
    """

    def __init__(
        self, app: ASGIApp, frames: Sequence[str] = (), scripts: Sequence[str] = ()
    ) -> None:
        self.app = app
        self.frames = tuple(frames)
        self.scripts = tuple(scripts)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = next(value for name, value in scope["headers"] if name.lower() == b"host")
        added = {
            b"content-security-policy": policy(
                host.decode("latin-1"), self.frames, self.scripts
            ).encode(),
            b"x-content-type-options": b"nosniff",
            # An address holds the prompt.
            b"referrer-policy": b"same-origin",
            **({} if self.frames else {b"x-frame-options": b"DENY"}),
        }

        async def with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                others = [
                    header
                    for header in message.get("headers", ())
                    if header[0].lower() not in added
                ]
                message = {**message, "headers": [*others, *added.items()]}
            await send(message)

        await self.app(scope, receive, with_headers)
