"""Route at which a browser fetches the charts of a gesture before the script has answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

# Of a session's requests so many wait: more than a page has parts and neighbours of what is chosen.
MOST_WAITING = 16
# Of their own: whoever asks for many takes no thread from what else the server answers.
_threads = ThreadPoolExecutor(4, "gestures")


@dataclass(eq=False)
class Turns:
    """A session's requests take turns: parts are built for one at a time, the newest goes next."""

    _now: asyncio.Future[bool] | None = None
    _waiting: list[asyncio.Future[bool]] = field(default_factory=list)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for it; false where too many newer requests have come meanwhile."""
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self._next()
        while len(self._waiting) > MOST_WAITING:
            overtaken = self._waiting.pop(0)
            if not overtaken.done():
                overtaken.set_result(False)
        try:
            yield await mine
        finally:
            if self._now is mine:
                self._now = None
                self._next()

    def _next(self) -> None:
        while self._now is None and self._waiting:
            newest = self._waiting.pop()
            # Who has gone meanwhile has left it cancelled.
            if not newest.done():
                self._now = newest
                newest.set_result(True)


def route(
    path: str,
    turns_of: Callable[[str], Turns],
    build: Callable[[str, Mapping[str, str]], str],
) -> BaseRoute:
    """Return the route of a path, below which a secret names a session's offer.

    Args:
        turns_of: gives the turns of the session whose secret it is.
        build: makes the answer as JSON, of the secret and of the inputs that were asked for; empty
            where there is none.
    """
    return Route(f"{path}/{{secret}}", partial(_answer, turns_of, build))


async def _answer(
    turns_of: Callable[[str], Turns],
    build: Callable[[str, Mapping[str, str]], str],
    request: Request,
) -> Response:
    """On a thread: building takes some 20 ms."""
    secret, found = request.path_params["secret"], ""
    async with turns_of(secret).turn() as is_on_time:
        if is_on_time:
            asked = secret, request.query_params
            found = await asyncio.get_running_loop().run_in_executor(_threads, build, *asked)
    if not found:
        # The page has to say; a browser would call a 404 an error.
        return Response(status_code=204)
    headers = {"cache-control": "no-store"}
    return Response(found, media_type="application/json", headers=headers)
