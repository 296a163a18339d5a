"""HTML that a browser loads at a page's address: Streamlit's, with the server's address added.

Without it Streamlit looks for its server below the page's address first, and those requests fail.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Route
from streamlit.file_util import get_static_dir

from pages.ui import registry

_SERVER = "<script>window.__streamlit = { BACKEND_BASE_URL: location.origin }</script>"


@cache
def html() -> str:
    """Return the HTML."""
    page = Path(get_static_dir(), "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>\n    {_SERVER}", 1)


def routes() -> list[BaseRoute]:
    """Return the routes of all pages but the first, whose address is the server's."""
    return [Route(f"/{page.path}", _answer) for page in registry.PAGES if page.path]


async def _answer(request: Request) -> HTMLResponse:
    del request
    return HTMLResponse(html(), headers={"cache-control": "no-cache"})
