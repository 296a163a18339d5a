"""What a browser is told about every answer: what its page may load, and who may frame it."""

from __future__ import annotations

from collections.abc import Sequence

from core.server.hosts import ASGIApp, Message, Receive, Send

_POLICY = (
    "default-src 'self'",
    # Streamlit loads a component's script from a blob.
    "script-src 'self' blob:",
    # Streamlit and Plotly style elements in place.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
)


def policy(host: str, frames: Sequence[str]) -> str:
    """The content security policy.

    Args:
        host: as the browser wrote it, with its port: not every browser counts a page's own
            websocket as `'self'`.
        frames: origins whose pages may frame this one.
    """
    sockets = f"connect-src 'self' ws://{host} wss://{host}"
    ancestors = " ".join(frames) or "'none'"
    return "; ".join((*_POLICY, sockets, f"frame-ancestors {ancestors}"))


class SecurityHeaders:
    """Middleware that adds the headers; behind `HostGuard`, which has looked at the host.

    Args:
        frames: origins whose pages may show the app in a frame; none by default.
    """

    def __init__(self, app: ASGIApp, frames: Sequence[str] = ()) -> None:
        self.app = app
        self.frames = tuple(frames)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = next(value for name, value in scope["headers"] if name.lower() == b"host")
        added = {
            b"content-security-policy": policy(host.decode("latin-1"), self.frames).encode(),
            b"x-content-type-options": b"nosniff",
            # An address holds the prompt.
            b"referrer-policy": b"same-origin",
            **({} if self.frames else {b"x-frame-options": b"DENY"}),
        }

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [one for one in message.get("headers", ()) if one[0].lower() not in added]
                message = {**message, "headers": [*others, *added.items()]}
            await send(message)

        await self.app(scope, receive, with_headers)
