"""Small pictures of the pages, for the cards of Home."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from core.installation import ASSETS

FOLDER = ASSETS / "pages"
# Named by its content, so that a browser keeps it for good.
_HEADERS = {"cache-control": "public, max-age=31536000, immutable"}


@cache
def _pictures() -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in FOLDER.glob("*.webp")}


@cache
def address_of(page: str, theme: str) -> str:
    """Return the address of a page's picture in a theme; empty if there is none."""
    content = _pictures().get(f"{page}-{theme}")
    return f"/pictures/{page}-{theme}-{sha256(content).hexdigest()[:8]}.webp" if content else ""


def routes() -> list[BaseRoute]:
    """Return the route of the pictures."""
    return [Route("/pictures/{name}.webp", _answer)]


async def _answer(request: Request) -> Response:
    name = str(request.path_params["name"]).rpartition("-")[0]
    content = _pictures().get(name)
    if content is None:
        return Response(status_code=404)
    return Response(content, media_type="image/webp", headers=_HEADERS)
