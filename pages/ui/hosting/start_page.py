"""HTML that a browser loads at a page's address: Streamlit's, with the server's address added.

Without it Streamlit looks for its server below the page's address first, and those requests fail.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from streamlit.file_util import get_static_dir

from pages.ui import registry

_HEADERS = {"cache-control": "no-cache"}
_SERVER = "<script>window.__streamlit = { BACKEND_BASE_URL: location.origin }</script>"


@cache
def html() -> str:
    """Return the HTML."""
    page = Path(get_static_dir(), "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>\n    {_SERVER}", 1)


def routes() -> list[BaseRoute]:
    """Return the routes of all pages."""
    paths = [f"/{page.path}" for page in registry.PAGES if page is not registry.HOME]
    return [Route("/", _answer_home), *(Route(path, _answer) for path in paths)]


def _answer_home(request: Request) -> Response:
    """Answer with the page, or redirect to Decode, whose links had this address.

    A plain function, which a thread runs: the first call imports Decode's controls.
    """
    query = request.query_params
    if registry.HOME_MARK in query or registry.DECODE_PARAMETERS().isdisjoint(query):
        return HTMLResponse(html(), headers=_HEADERS)
    return RedirectResponse(f"/{registry.DECODE.path}?{request.url.query}")


async def _answer(request: Request) -> HTMLResponse:
    del request
    return HTMLResponse(html(), headers=_HEADERS)
