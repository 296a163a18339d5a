"""Plotly's script, as the browser gets it: the bundle of bars, lines and heatmaps, compressed."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from core.export.web import bundle

# Named by its version, so that a browser keeps it for good.
SCRIPT = f"/{bundle.NAME}"
_HEADERS = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}


def routes() -> list[BaseRoute]:
    """Return the route of Plotly's script."""
    return [Route(SCRIPT, _answer)]


async def _answer(request: Request) -> Response:
    packed = "gzip" in request.headers.get("accept-encoding", "")
    return Response(
        bundle.packed() if packed else bundle.script(),
        media_type="text/javascript",
        headers={**_HEADERS, **({"content-encoding": "gzip"} if packed else {})},
    )
