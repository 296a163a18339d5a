"""Streamlit's metrics: sessions, caches and their memory."""

from __future__ import annotations

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send, answer

PATH = "/_stcore/metrics"


class ClosedMetrics:
    """Middleware that hides the metrics unless the operator has enabled them."""

    def __init__(self, app: ASGIApp, is_open: bool = False) -> None:
        self.app = app
        self.is_open = is_open

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        is_metrics = scope["type"] == "http" and scope["path"].rstrip("/").endswith(PATH)
        if is_metrics and not self.is_open:
            await answer(send, 404, "Not Found\n")
        else:
            await self.app(scope, receive, send)
