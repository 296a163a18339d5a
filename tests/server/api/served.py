"""The endpoint on a port of this process, with models that tests can hold up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import openai
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from core.server.api.routes import routes
from core.server.api.serve import KEEP_ALIVE
from core.server.api.service import Service
from core.server.hosts import LOOPBACK, HostGuard
from core.server.queue import FairQueue
from core.server.refusals import Refusals
from tests.app_server import free_port

NAMES = ("embedded:target", "embedded:draft")


@dataclass(frozen=True)
class Served:
    """A running endpoint."""

    service: Service
    url: str

    def client(self, key: str = "any", **options: Any) -> openai.OpenAI:
        return openai.OpenAI(
            base_url=f"{self.url}/v1", api_key=key, max_retries=0, timeout=60, **options
        )

    def post(self, path: str, body: Any = None, **options: Any) -> httpx2.Response:
        return httpx2.post(f"{self.url}{path}", json=body, timeout=60, **options)


@contextmanager
def served(
    load: Callable[..., Any], origins: tuple[str, ...] = (), **options: Any
) -> Iterator[Served]:
    """An endpoint for a while.

    Args:
        load: gives a model by its name.
        origins: whose pages may ask.
        options: of `Service`.
    """
    service = Service(load=load, offered=lambda: NAMES, queue=FairQueue(), **options)
    guard = Middleware(HostGuard, names=LOOPBACK, shared=False, api_origins=origins)
    app = Starlette(routes=routes(service, origins), middleware=[Middleware(Refusals), guard])
    port = free_port()
    config = uvicorn.Config(
        app,
        port=port,
        log_level="error",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert eventually(lambda: server.started)
    try:
        yield Served(service, f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        thread.join(60)


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()
