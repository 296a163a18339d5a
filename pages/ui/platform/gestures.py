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

# Waiting requests of a session: more than a page has fragments and neighbours of a choice.
MOST_WAITING = 16
# A separate thread pool, so that many requests don't block the server's other answers.
_threads = ThreadPoolExecutor(4, "gestures")


@dataclass(eq=False)
class Turns:
    """Queue of a session's requests: one is built at a time, the newest goes next."""

    _now: asyncio.Future[bool] | None = None
    _waiting: list[asyncio.Future[bool]] = field(default_factory=list)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for the turn; yield False if too many newer requests have come meanwhile."""
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
            # A client that has disconnected leaves a cancelled future.
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
        turns_of: gives the queue of the session that has the secret.
        build: makes the answer as JSON from the secret and the requested inputs; empty for no
            answer.
    """
    return Route(f"{path}/{{secret}}", partial(_answer, turns_of, build))


async def _answer(
    turns_of: Callable[[str], Turns],
    build: Callable[[str, Mapping[str, str]], str],
    request: Request,
) -> Response:
    """Build the answer on a thread, as that takes some 20 ms."""
    secret, answer = request.path_params["secret"], ""
    async with turns_of(secret).turn() as is_on_time:
        if is_on_time:
            arguments = secret, request.query_params
            answer = await asyncio.get_running_loop().run_in_executor(_threads, build, *arguments)
    if not answer:
        # The script draws it instead; a browser would log a 404 as an error.
        return Response(status_code=204)
    headers = {"cache-control": "no-store"}
    return Response(answer, media_type="application/json", headers=headers)
