"""The endpoint alone, without the pages."""

from __future__ import annotations

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from core.decoding.errors import ConfigError
from core.server import hosts
from core.server.api.local_models import LocalModels
from core.server.api.routes import routes
from core.server.api.service import NO_KEY, Service
from core.server.hosts import HostGuard
from core.server.queue import FairQueue
from core.server.settings import Settings


def endpoint(address: str, settings: Settings) -> Starlette:
    """The application, behind the guard of hosts and origins.

    Raises:
        ConfigError: others could reach it without a key.
    """
    shared = hosts.is_shared(address, settings.hosts)
    if shared and not settings.api_keys:
        raise ConfigError(NO_KEY)
    models = LocalModels(settings.models)
    service = Service(
        load=models.load, offered=models.names, queue=FairQueue(), keys=settings.api_keys
    )
    names = hosts.own_names(address, settings.hosts)
    origins = settings.api_origins
    guard = Middleware(HostGuard, names=names, shared=shared, api_origins=origins)
    return Starlette(routes=routes(service, origins), middleware=[guard])


def serve(address: str, port: int, settings: Settings) -> None:
    """Answer until Ctrl+C; raises ConfigError as `endpoint`."""
    app = endpoint(address, settings)
    shown = f"[{address}]" if ":" in address else address
    print(f"The endpoint is at http://{shown}:{port}/v1", flush=True)
    uvicorn.run(app, host=address, port=port, log_level="warning", timeout_graceful_shutdown=2)
