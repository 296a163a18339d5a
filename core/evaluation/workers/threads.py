"""Rows whose models are all on servers: many units at once, as many as the servers take.

The waiting is the servers' and the work is light, so threads of this process share the models that
it is connected to. More units are begun while no server has requests waiting and this process
still rests between their answers.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar

from core.decoding.protocol import offers
from core.evaluation.workers.processes import Work
from core.models.stopping import never, stoppable

R = TypeVar("R")
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
    """Whether none of them computes here."""
    return all(offers(model, OnServer) for model in models)


def rows_in_flight(
    rows: Callable[..., Iterator[R]],
    work: Work[R],
    models: Iterable[OnServer],
    done: Sequence[R] = (),
    *,
    most: int = MAX_IN_FLIGHT,
    should_stop: Callable[[], bool] = never,
) -> Iterator[R]:
    """Yield the rows that `done` lacks, as they end.

    Args:
        rows: from a unit of the work (`only`), and what asks whether to stop (`should_stop`), to
            its rows.
        models: those that are asked.
        most: units at once.

    Raises:
        what `rows` raised first; the others are stopped then, and what they have is given before.
    """
    flight = _Flight(rows, work.units(done), should_stop)
    room = _Room(tuple(models), most)
    failed: BaseException | None = None
    try:
        flight.begin(min(most, room.first))
        while (one := flight.next()) is not _LANDED:
            if isinstance(one, _Failed):
                failed = failed or (None if flight.stopped() else one.error)
                flight.ended.set()
            elif one is not _NOTHING:
                yield one
            if flight.goes_on() and (more := room.more(flight.under_way)):
                flight.begin(more)
    finally:
        flight.end()
    if failed is not None:
        raise failed


class _Failed(NamedTuple):
    error: BaseException


_NOTHING, _LANDED = object(), object()


class _Flight:
    """The threads, and what comes back from them."""

    def __init__(
        self,
        rows: Callable[..., Iterator[Any]],
        units: Sequence[Any],
        should_stop: Callable[[], bool],
    ) -> None:
        self._rows, self._todo, self._should_stop = rows, deque(units), should_stop
        self._came: SimpleQueue[Any] = SimpleQueue()
        self.ended = threading.Event()
        self._crew: list[threading.Thread] = []
        self.under_way = 0

    def begin(self, count: int) -> None:
        """So many threads more, if there is work for them."""
        for _ in range(min(count, len(self._todo))):
            thread = threading.Thread(target=self._fly, name="in-flight", daemon=True)
            self._crew.append(thread)
            self.under_way += 1
            thread.start()

    def next(self) -> Any:
        """A row, nothing yet, a failure, or that all have landed."""
        while self.under_way:
            try:
                one = self._came.get(timeout=_LOOK_SECONDS)
            except Empty:
                return _NOTHING
            if one is not _LANDED:
                return one
            self.under_way -= 1
        return _LANDED

    def end(self) -> None:
        """Stop what is under way, and wait a while for those that wait for an answer."""
        self.ended.set()
        until = time.monotonic() + _END_SECONDS
        for thread in self._crew:
            thread.join(max(0.0, until - time.monotonic()))

    def stopped(self) -> bool:
        """Whether nothing more is to be done."""
        return self.ended.is_set() or self._should_stop()

    def goes_on(self) -> bool:
        """Whether there are units that nobody has begun."""
        return bool(self._todo) and not self.stopped()

    def _fly(self) -> None:
        try:
            with stoppable(self.stopped):
                while self.goes_on():
                    try:
                        unit = self._todo.popleft()
                    except IndexError:  # Another thread was quicker.
                        break
                    for row in self._rows(only=unit, should_stop=self.stopped):
                        self._came.put(row)
        except BaseException as error:
            self._came.put(_Failed(error))
        self._came.put(_LANDED)


class _Room:
    """Whether the servers take more: by their slots, or by what waits in their queues."""

    def __init__(self, models: Sequence[OnServer], most: int) -> None:
        self._models = models
        slots = [model.slots for model in models if model.slots]
        self._most = min(most, sum(slots)) if slots else most
        self.first = self._most if slots else min(_FIRST, most)
        self._wall, self._used = time.monotonic(), time.process_time()

    def more(self, under_way: int) -> int:
        """How many units may be begun beside those under way, asked at most every look."""
        wall, used = time.monotonic(), time.process_time()
        if under_way >= self._most or wall - self._wall < _LOOK_SECONDS:
            return 0
        share = (used - self._used) / (wall - self._wall)
        self._wall, self._used = wall, used
        waiting = [model.waiting() for model in self._models] if share < _BUSY else []
        if not waiting or None in waiting or any(waiting):
            return 0
        return min(under_way, self._most - under_way)
