"""Visitors who go while something is sent to them."""

from __future__ import annotations

from contextlib import suppress

from starlette.websockets import WebSocketDisconnected

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send


class QuietDepartures:
    """Middleware for a websocket that is gone: Streamlit closes it once more, and that fault
    would stand in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        with suppress(WebSocketDisconnected):
            await self.app(scope, receive, send)
