"""The figures of a step that was chosen just now, for the browser that chose it."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pages.ui.widgets import ahead


def routes() -> list[BaseRoute]:
    """Where they are: below a secret of the session's own."""
    return [Route(f"{ahead.PATH}/{{secret}}/{{at:int}}", _answer)]


def _answer(request: Request) -> Response:
    """On a thread of its own: building takes some 20 ms."""
    found = ahead.figures(request.path_params["secret"], request.path_params["at"])
    if not found:
        return Response(status_code=404)
    said = {name: {"figure": own.text, "alt": own.words["alt"]} for name, own in found.items()}
    return Response(
        json.dumps(said, ensure_ascii=False, separators=(",", ":")),
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )
