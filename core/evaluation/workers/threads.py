"""Threads that ask models on servers: many units at once, as many as the servers take.

The waiting is the servers' and the work is light, so threads of this process share the models that
it is connected to. More units are begun while no server has requests waiting and this process
still rests between their answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeGuard

from core.decoding.protocol import offers
from core.evaluation.workers.work import Event, RunUnit, Work
from core.models.stopping import ShouldStop, stoppable

MAX_IN_FLIGHT = 256
_FIRST = 4
_LOOK_SECONDS, _END_SECONDS = 0.25, 5.0
# A share of one processor: the threads of a process have no more between them.
_BUSY = 0.8


class OnServer(Protocol):
    """A model on a server, such as a `RemoteModel`."""

    @property
    def slots(self) -> int | None:
        """Requests that the server works on at once; None where it doesn't say."""
        ...

    def waiting(self) -> int | None:
        """Requests in the server's queue now; None where it doesn't say."""
        ...


def all_on_servers(models: Iterable[object]) -> TypeGuard[Iterable[OnServer]]:
    """Return whether none of the models computes in this process."""
    return all(offers(model, OnServer) for model in models)


def threads_for(models: Iterable[object], most: int) -> Threads | None:
    """Return a pool where the models are all on servers and more than one unit may run at once."""
    models = list(models)
    return Threads(models, most) if most > 1 and all_on_servers(models) else None


class Threads:
    """A pool of threads, one for each unit under way.

    Args:
        models: those that are asked.
        most: units at once.
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
        """Stop the runs under way, and wait a while for those that wait for an answer."""
        self._closed.set()
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


class _Room:
    """Room on the servers for more requests, by their slots or by their queues."""

    def __init__(self, models: Sequence[OnServer], most: int) -> None:
        self._models = models
        slots = [model.slots for model in models if model.slots]
        self._most = min(most, sum(slots)) if slots else most
        self.first = self._most if slots else min(_FIRST, most)
        self._wall, self._used = time.monotonic(), time.process_time()

    def more(self, under_way: int) -> int:
        """Return how many units may be begun beside those under way, at most one look in 0.25 s."""
        wall, used = time.monotonic(), time.process_time()
        if under_way >= self._most or wall - self._wall < _LOOK_SECONDS:
            return 0
        share = (used - self._used) / (wall - self._wall)
        self._wall, self._used = wall, used
        waiting = [model.waiting() for model in self._models] if share < _BUSY else []
        if not waiting or None in waiting or any(waiting):
            return 0
        return min(under_way, self._most - under_way)
