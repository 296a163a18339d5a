"""Work in units, and the loop that distributes them over workers of any kind.

A worker is a process (`processes`), a thread (`threads`) or an actor of Ray (`ray`). If one dies,
another worker repeats only the runs whose rows it had not sent.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from ...decoding.errors import ConfigError, EvaluationError
from ...language import Message
from ...models.stopping import ShouldStop, never

R = TypeVar("R")
RunUnit: TypeAlias = Callable[[list[Any], ShouldStop], Iterator[R]]
"""Yields the rows of a unit, each as soon as its run has ended."""

MAX_WORKERS = 64
POLL_SECONDS = 0.1
_DEATHS = 3  # deaths of workers at the same unit that end the work


class Work(Protocol[R]):
    """Runs in units; for processes, the work, its units, rows and keys must be picklable."""

    def key(self, row: R, /) -> Any:
        """Return the key of a row's run in its unit."""

    def units(self, done: Sequence[R], /) -> list[list[Any]]:
        """Return the keys of the runs without a row, grouped in units."""

    def begin(self) -> RunUnit[R]:
        """Load the models."""


class Event(NamedTuple):
    """A message from a worker: a row, the end of its unit, its error, or its death."""

    worker: Any
    kind: Literal["row", "done", "failed", "died"]
    value: Any = None


class Pool(Protocol):
    """Workers of one kind, used for one `rows_of`."""

    drains: bool
    """Whether workers that are to stop still hand over what they have."""

    def open(self, work: Work[Any], should_stop: ShouldStop, /) -> None:
        """Prepare for the work without starting a worker."""

    def has_room(self, busy: int) -> bool:
        """Return True if another worker may run beside `busy` workers."""

    def start(self, unit: list[Any]) -> Any:
        """Send a unit to an idle or a new worker; return the worker."""

    def events(self) -> Iterable[Event]:
        """Return the workers' messages, after a short wait at most."""

    def close(self) -> None:
        """End all workers."""


def rows_of(
    work: Work[R],
    done: Sequence[R] = (),
    pool: Pool | None = None,
    should_stop: ShouldStop = never,
) -> Iterator[R]:
    """Yield the rows that `done` lacks, each when its run has ended.

    Args:
        pool: pool of workers; without one, this thread runs one unit after another.
        should_stop: called at every message and every poll; processes lose their running units.

    Raises:
        EvaluationError: several workers died at the same runs.
        DecodingError: an error of the work itself.
    """
    units = work.units(done)
    if pool is not None:
        yield from _spread(work, deque(units), pool, should_stop)
    elif units:
        run = work.begin()
        for unit in units:
            if should_stop():
                return
            yield from run(unit, should_stop)


def _spread(
    work: Work[R], todo: deque[list[Any]], pool: Pool, should_stop: ShouldStop
) -> Iterator[R]:
    busy, deaths = dict[Any, list[Any]](), Counter[Any]()
    failure: BaseException | None = None
    try:
        pool.open(work, lambda: failure is not None or should_stop())
        while busy or todo:
            stopping = failure is not None or should_stop()
            if stopping and not (pool.drains and busy):
                break
            while todo and not stopping and pool.has_room(len(busy)):
                unit = todo.popleft()
                busy[pool.start(unit)] = list(unit)
            for worker, kind, value in pool.events():
                if kind == "row":
                    busy[worker].remove(work.key(value))
                    yield value
                    continue
                left = busy.pop(worker, [])
                if kind == "failed" and failure is None and not should_stop():
                    failure = value
                if kind == "died":
                    place = left[0] if left else None
                    deaths[place] += 1
                    if deaths[place] >= _DEATHS:
                        raise EvaluationError(
                            Message(
                                "{deaths} processes ended one after another without a "
                                "word, {value}; there may be too little memory for so "
                                "many.",
                                deaths=_DEATHS,
                                value=value,
                            )
                        )
                    todo.extendleft([left] if left else [])
    finally:
        pool.close()
    if failure is not None:
        raise failure


def require_workers(workers: int) -> None:
    """Raise ConfigError if the number of processes is out of range."""
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError(
            Message(
                "must lie in [1, {max_workers}], got {workers}.",
                max_workers=MAX_WORKERS,
                workers=workers,
            ),
            "workers",
            "",
        )
