"""The OpenAI-compatible endpoint beside the pages: their models, their queue."""

from __future__ import annotations

from functools import cache

from starlette.routing import BaseRoute

from core.server.api.routes import routes
from core.server.api.service import NO_KEY, Service
from core.server.settings import settings
from pages.ui.hosting import reach
from pages.ui.run.jobs import QUEUE
from pages.ui.shell import models


@cache
def service() -> Service:
    """The one of this process; closed where others could reach it without a key."""
    keys = settings().api_keys
    return Service(
        load=models.load,
        offered=models.offered,
        queue=QUEUE,
        keys=keys,
        closed=NO_KEY if reach.shared() and not keys else "",
    )


def endpoint_routes() -> list[BaseRoute]:
    """What `app.py` serves beside the pages; nothing where the operator switched it off."""
    own = settings()
    return routes(service(), own.api_origins) if own.api else []


def said(url: str) -> str:
    """What the start says of it."""
    if not settings().api:
        return ""
    return f"  {service().closed or f'OpenAI-compatible endpoint: {url}/v1'}\n"
