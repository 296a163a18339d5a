"""Pool of actors in a Ray cluster; they do the same work as processes.

Every node must have the project and its packages at the same path (an image, a shared folder).
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...decoding.errors import ConfigError, DecodingError, EvaluationError
from ...installation import IMPORT_FOLDER, pip_command
from ...language import Message
from ...models.stopping import ShouldStop, never
from .work import POLL_SECONDS, Event, RunUnit, Work, require_workers

_CONNECT_SECONDS = 5.0


class _Remote:
    """The actor's program: begin the work once, then run one unit after another."""

    def __init__(self, work: Work[Any]) -> None:
        self._work = work
        self._run: RunUnit[Any] | None = None

    def rows(self, unit: list[Any]) -> Iterator[Any]:
        if self._run is None:
            import torch

            torch.set_num_threads(1)
            self._run = self._work.begin()
        yield from self._run(unit, never)


@dataclass(eq=False)
class _Actor:
    """An actor's handle, and the stream of rows that it makes; None if it is idle."""

    handle: Any
    rows: Any = None


class RayCluster:
    """A pool of actors, each with one processor and its own models.

    Args:
        address: argument of `ray.init`; `local` starts a cluster on this machine, and ends it.
        count: largest number of actors.
    """

    drains = False

    def __init__(self, address: str, count: int) -> None:
        require_workers(count)
        self._address, self._count = address, count
        self._ray: Any = None
        self._actors: list[_Actor] = []

    def open(self, work: Work[Any], _should_stop: ShouldStop, /) -> None:
        """Connect to the cluster.

        Raises:
            ConfigError: Ray isn't installed, or there is no cluster at the address.
        """
        ray = _connected(self._address, self._count)
        self._ray = ray
        self._class, self._work = ray.remote(num_cpus=1, max_restarts=0)(_Remote), ray.put(work)

    def has_room(self, busy: int) -> bool:
        return busy < self._count

    def start(self, unit: list[Any]) -> _Actor:
        actor = next((actor for actor in self._actors if actor.rows is None), None)
        if actor is None:
            actor = _Actor(self._class.remote(self._work))
            self._actors.append(actor)
        actor.rows = actor.handle.rows.options(num_returns="streaming").remote(unit)
        return actor

    def events(self) -> Iterator[Event]:
        busy = [actor for actor in self._actors if actor.rows is not None]
        ready, _ = self._ray.wait([actor.rows for actor in busy], timeout=POLL_SECONDS)
        yield from (self._event(actor) for actor in busy if actor.rows in ready)

    def _event(self, actor: _Actor) -> Event:
        try:
            return Event(actor, "row", self._ray.get(next(actor.rows)))
        except StopIteration:
            actor.rows = None
            return Event(actor, "done")
        except self._ray.exceptions.RayTaskError as error:
            actor.rows = None
            if isinstance(error.cause, DecodingError):
                return Event(actor, "failed", EvaluationError(str(error.cause)))
            sentence = f"A worker on Ray failed: {_brief(error.cause)}"
            return Event(actor, "failed", EvaluationError(sentence))
        except self._ray.exceptions.RayError:
            self._actors.remove(actor)
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle)
            return Event(actor, "died", "no memory, or a node that left")

    def close(self) -> None:
        if self._ray is not None:
            self._ray.shutdown()


def _connected(address: str, workers: int) -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigError(
            Message(
                "Ray isn't installed: {pip_command}, here and on every node.",
                pip_command=pip_command("ray"),
            )
        ) from None
    local = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    environment = {
        "env_vars": {"PYTHONPATH": str(IMPORT_FOLDER), "TOKENIZERS_PARALLELISM": "false"}
    }
    try:
        # Ray itself tries for minutes if nothing listens.
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon and port.isdecimal():
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, runtime_env=environment, **local)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise ConfigError(
            Message(
                "There is no Ray cluster at {address}: {given}",
                address=address,
                given=_brief(error),
            )
        ) from None
    return ray


def _brief(error: Exception) -> str:
    return f"{' '.join(str(error).split())[:200].rstrip('.')}."
