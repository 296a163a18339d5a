"""Server of the endpoint without the pages."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from ...decoding.errors import ConfigError, DecodingError
from ...decoding.validation import brief
from ...language import N_, Message
from .. import hosts
from ..ending import ended_by_signals
from ..hosts import HostGuard
from ..queue import FairQueue
from ..refusals import Refusals
from ..settings import Settings
from .local_models import LocalModels
from .routes import routes
from .service import Service

# Idle connections stay open, in seconds: a client's connection pool and a proxy keep theirs for a
# minute, and a request on one that uvicorn closed after its default of 5 s fails.
KEEP_ALIVE = 75
_NO_ADDRESS = N_("Nothing can listen on {address}, port {port}: {reason}.")
_NO_PORT = N_("Nothing can listen on port {port}: {reason}.")


class AddressError(DecodingError):
    """The server can't listen on an address and port."""


def endpoint(address: str, settings: Settings, only: Sequence[str] = ()) -> Starlette:
    """Return the application, with checks of host and origin.

    Args:
        only: the offered models, loaded at once; empty for all.

    Raises:
        ConfigError: other machines could reach it without a key.
        ModelError: a model can't be loaded.
    """
    shared = hosts.is_shared(address, settings.hosts)
    if shared and not settings.api_keys:
        raise ConfigError(
            N_(
                "The endpoint is closed: this server can be reached from other machines and has no "
                "key; set DECODING_EXPLORER_API_KEYS, or give --api-key."
            )
        )
    models = LocalModels(settings.models, only)
    for name in only:
        models.load(name)
    service = Service(
        load=models.load, offered=models.names, queue=FairQueue(), keys=settings.api_keys
    )
    names = hosts.own_names(address, settings.hosts)
    origins = settings.api_origins
    guard = Middleware(HostGuard, names=names, shared=shared, api_origins=origins)
    return Starlette(
        routes=routes(service, origins),
        middleware=[Middleware(Refusals), guard],
        lifespan=lambda _: ended_by_signals(service.end),
    )


def serve(address: str, port: int, settings: Settings, only: Sequence[str] = ()) -> None:
    """Serve until Ctrl+C.

    Raises:
        ConfigError, ModelError: as `endpoint`.
        AddressError: the address or port is not available.
    """
    app = endpoint(address, settings, only)
    listening = _listen(address, port)
    shown = f"[{address}]" if ":" in address else address
    print(f"The endpoint is at http://{shown}:{listening[0].getsockname()[1]}/v1", flush=True)
    config = uvicorn.Config(
        app, log_level="warning", timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=2
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=list(listening))


def _listen(address: str, port: int) -> Sequence[socket.socket]:
    """Return a socket for each address of a name; an empty name means all addresses."""
    sockets: dict[tuple[object, ...], socket.socket] = {}
    try:
        for family, *_, at in socket.getaddrinfo(
            address or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            if at not in sockets:
                sockets[at] = socket.create_server(at, family=family)
    except (OSError, UnicodeError) as error:
        for listening in sockets.values():
            listening.close()
        sentence = _NO_ADDRESS if address else _NO_PORT
        why = getattr(error, "strerror", None) or N_("this is no name of a machine")
        # Python repeats the address after the system's message.
        reason = Message(why.partition(" (while")[0])
        raise AddressError(
            Message(sentence, address=brief(address), port=port, reason=reason)
        ) from None
    return list(sockets.values())
