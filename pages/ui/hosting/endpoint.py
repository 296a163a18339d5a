"""The OpenAI-compatible endpoint beside the pages: their models, their queue."""

from __future__ import annotations

from functools import cache

from starlette.routing import BaseRoute

from core.server.api.routes import routes
from core.server.api.service import NO_KEY, Service
from core.server.queue import QUEUE
from core.server.settings import settings
from pages.ui.platform import reach
from pages.ui.resources import models

OFF = "The endpoint is switched off on this server (DECODING_EXPLORER_API)."


@cache
def service() -> Service:
    """The one of this process; closed where the operator or a missing key says so."""
    own = settings()
    unguarded = NO_KEY if reach.shared() and not own.api_keys else ""
    return Service(
        load=models.load,
        offered=models.offered,
        queue=QUEUE,
        workers=models.workers(),
        keys=own.api_keys,
        closed=unguarded if own.api else OFF,
    )


def endpoint_routes() -> list[BaseRoute]:
    """What `app.py` serves beside the pages; where it is closed, that it is."""
    return routes(service(), settings().api_origins)


def said(url: str) -> str:
    """What the start says of it."""
    return f"  {service().closed or f'OpenAI-compatible endpoint: {url}/v1'}\n"
