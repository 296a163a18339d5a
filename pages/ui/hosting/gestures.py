"""What a gesture changes, for the browser that made it just now."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pages.ui.widgets import ahead


def routes() -> list[BaseRoute]:
    """Where it is: below a secret of the session's own."""
    return [Route(f"{ahead.PATH}/{{secret}}", _answer)]


def _answer(request: Request) -> Response:
    """On a thread of its own: building takes some 20 ms."""
    found = ahead.parts(request.path_params["secret"], request.query_params)
    if not found:
        # The page has to say; a browser would call a 404 an error.
        return Response(status_code=204)
    return Response(
        json.dumps(
            {name: ahead.sent(part) for name, part in found.items()},
            ensure_ascii=False,
            separators=(",", ":"),
        ),
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )
