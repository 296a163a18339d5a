"""Pool of threads for models on servers: as many concurrent units as the servers take.

The threads mostly wait, so they share this process and its connected models. The number of units
grows as long as no server queues requests and this process has idle time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeGuard

from ...decoding.protocol import offers
from ...models.stopping import ShouldStop, stoppable
from .work import Event, RunUnit, Work

MAX_IN_FLIGHT = 256
_FIRST = 4
_LOOK_SECONDS, _END_SECONDS = 0.25, 5.0
# Limit on this process's use of one processor: its threads share one.
_BUSY = 0.8


class OnServer(Protocol):
    """A model on a server, such as a `RemoteModel`."""

    @property
    def slots(self) -> int | None:
        """Number of requests that the server handles at once; None if unknown."""
        ...

    def waiting(self) -> int | None:
        """Return the number of requests in the server's queue; None if unknown."""
        ...


def all_on_servers(models: Iterable[object]) -> TypeGuard[Iterable[OnServer]]:
    """Return True if no model computes in this process."""
    return all(offers(model, OnServer) for model in models)


def threads_for(models: Iterable[object], most: int) -> Threads | None:
    """Return a pool if all models are on servers and several units may run at once; else None."""
    models = list(models)
    return Threads(models, most) if most > 1 and all_on_servers(models) else None


class Threads:
    """A pool of threads, one for each running unit.

    Args:
        models: the models on servers.
        most: largest number of concurrent units.
    """

    drains = True
    _run: RunUnit[Any]
    _should_stop: ShouldStop

    def __init__(self, models: Iterable[OnServer], most: int = MAX_IN_FLIGHT) -> None:
        self._room = _Room(tuple(models), most)
        self._limit = self._room.first
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._threads: set[threading.Thread] = set()
        self._closed = threading.Event()

    def open(self, work: Work[Any], should_stop: ShouldStop, /) -> None:
        self._run, self._should_stop = work.begin(), should_stop

    def has_room(self, busy: int) -> bool:
        if busy >= self._limit:
            self._limit += self._room.more(busy)
        return busy < self._limit

    def start(self, unit: list[Any]) -> threading.Thread:
        thread = threading.Thread(target=self._do, args=(unit,), name="in-flight", daemon=True)
        self._threads.add(thread)
        thread.start()
        return thread

    def _do(self, unit: list[Any]) -> None:
        thread = threading.current_thread()
        try:
            with stoppable(self._stopped):
                for row in self._run(unit, self._stopped):
                    self._events.put(Event(thread, "row", row))
        except BaseException as error:
            self._events.put(Event(thread, "failed", error))
        else:
            self._events.put(Event(thread, "done"))

    def _stopped(self) -> bool:
        return self._closed.is_set() or self._should_stop()

    def events(self) -> Iterator[Event]:
        try:
            event = self._events.get(timeout=_LOOK_SECONDS)
        except Empty:
            return
        if event.kind != "row":
            self._threads.discard(event.worker)
        yield event

    def close(self) -> None:
        """Stop the running units, and wait a few seconds for pending answers."""
        self._closed.set()
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


class _Room:
    """Number of further requests that the servers can take, by their slots or queues."""

    def __init__(self, models: Sequence[OnServer], most: int) -> None:
        self._models = models
        slots = [model.slots for model in models if model.slots]
        self._most = min(most, sum(slots)) if slots else most
        self.first = self._most if slots else min(_FIRST, most)
        self._wall, self._used = time.monotonic(), time.process_time()

    def more(self, under_way: int) -> int:
        """Return the number of units that may start now; check at most once in 0.25 s."""
        wall, used = time.monotonic(), time.process_time()
        if under_way >= self._most or wall - self._wall < _LOOK_SECONDS:
            return 0
        share = (used - self._used) / (wall - self._wall)
        self._wall, self._used = wall, used
        waiting = [model.waiting() for model in self._models] if share < _BUSY else []
        if not waiting or None in waiting or any(waiting):
            return 0
        return min(under_way, self._most - under_way)
