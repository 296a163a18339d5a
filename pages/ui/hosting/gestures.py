"""What a gesture changes, for the browser that made it just now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pages.ui.widgets import ahead

# Of their own: whoever asks for many takes no thread from what else the server answers.
_threads = ThreadPoolExecutor(4, "gestures")


def routes() -> list[BaseRoute]:
    """Where it is: below a secret of the session's own."""
    return [Route(f"{ahead.PATH}/{{secret}}", _answer)]


async def _answer(request: Request) -> Response:
    """On a thread: building takes some 20 ms."""
    secret, found = request.path_params["secret"], ""
    async with ahead.turns_of(secret).turn() as is_on_time:
        if is_on_time:
            asked = secret, request.query_params
            found = await asyncio.get_running_loop().run_in_executor(_threads, _parts, *asked)
    if not found:
        # The page has to say; a browser would call a 404 an error.
        return Response(status_code=204)
    headers = {"cache-control": "no-store"}
    return Response(found, media_type="application/json", headers=headers)


def _parts(secret: str, asked: Mapping[str, str]) -> str:
    """As JSON; empty where there are none."""
    found = {name: ahead.sent(part) for name, part in ahead.parts(secret, asked).items()}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""
