"""OpenAI-compatible endpoint beside the pages, with the same models and queue."""

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
    """Return this process's service; closed by the operator's setting or for want of a key."""
    config = settings()
    unguarded = NO_KEY if reach.shared() and not config.api_keys else ""
    return Service(
        load=models.load,
        offered=models.offered,
        queue=QUEUE,
        workers=models.workers(),
        keys=config.api_keys,
        closed=unguarded if config.api else OFF,
    )


def endpoint_routes() -> list[BaseRoute]:
    """Return the endpoint's routes; those of a closed endpoint answer that it is closed."""
    return routes(service(), settings().api_origins)


def start_line(url: str) -> str:
    """Return the endpoint's line in the server's start message."""
    return f"  {service().closed or f'OpenAI-compatible endpoint: {url}/v1'}\n"
