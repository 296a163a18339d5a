"""Rows of an evaluation or a sweep by several processes of this machine.

What is to be done is a `Work`: it goes to the processes by pickling, and each begins it once. A
process that dies takes with it what it had not handed over; that is done again by another one, and
nothing else is. `ray_workers` spreads the same `Work` over machines.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from core.decoding.errors import ConfigError, DecodingError, EvaluationError

R = TypeVar("R")
MAX_WORKERS = 64
_DEATHS = 3  # of processes at one unit, until it is given up
_POLL_SECONDS = 0.1
_CONTEXT = get_context("spawn")


class Work(Protocol[R]):
    """Runs in units; `units`, rows and their keys can be pickled."""

    def key(self, row: R, /) -> Any:
        """What names a row's run in a unit."""

    def units(self, done: Sequence[R], /) -> list[list[Any]]:
        """The runs that have no row yet, by their keys, in the pieces they are done in."""

    def begin(self) -> Callable[[list[Any]], Iterator[R]]:
        """Load what is needed; from a unit to its rows, each as soon as it has ended."""


def require_workers(workers: int) -> None:
    """Raises ConfigError for a number of processes that can't be."""
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError(f"workers must lie in [1, {MAX_WORKERS}], got {workers}.")


@dataclass(eq=False)
class _Worker(Generic[R]):
    """A process, and the runs of its unit that have not come back."""

    process: Any
    pipe: Connection
    left: list[Any] = field(default_factory=list)
    idle: bool = False


def rows_of(
    work: Work[R],
    done: Sequence[R] = (),
    *,
    workers: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[R]:
    """Yield the rows that `done` lacks, as processes hand them over.

    Args:
        should_stop: asked ten times a second; what runs then is lost.

    Raises:
        ConfigError: no such number of processes.
        EvaluationError: several processes died at the same runs.
        DecodingError: what the work itself raised.
    """
    require_workers(workers)
    todo = deque(work.units(done))
    crew: list[_Worker[R]] = []
    deaths: dict[Any, int] = {}
    try:
        while (todo or any(one.left for one in crew)) and not should_stop():
            while len(crew) < min(workers, len(todo) + sum(bool(one.left) for one in crew)):
                crew.append(_begin(work, workers))
            for one in crew:
                if one.idle and todo:
                    _send(one, todo.popleft())
            ready = connection.wait([one.pipe for one in crew], _POLL_SECONDS)
            for one in [one for one in crew if one.pipe in ready]:
                try:
                    kind, value = one.pipe.recv()
                except (EOFError, OSError):
                    crew.remove(one)
                    _end(one)
                    _again(one, todo, deaths)
                    continue
                if kind == "failed":
                    raise value
                if kind == "row":
                    one.left.remove(work.key(value))
                    yield value
                else:
                    one.idle = True
    finally:
        for one in crew:
            _end(one)


def _again(one: _Worker[R], todo: deque[list[Any]], deaths: dict[Any, int]) -> None:
    """Put what a dead process had not handed over first in the queue."""
    count_death(deaths, one.left, f"the last with code {one.process.exitcode}")
    if one.left:
        todo.appendleft(one.left)


def count_death(deaths: dict[Any, int], left: Sequence[Any], how: str) -> None:
    """Count a process that died at these runs.

    Raises:
        EvaluationError: it was one too many.
    """
    place = left[0] if left else None
    deaths[place] = deaths.get(place, 0) + 1
    if deaths[place] >= _DEATHS:
        raise EvaluationError(
            f"{_DEATHS} processes ended one after another without a word, {how}; there may be too "
            "little memory for so many."
        )


def _begin(work: Work[R], workers: int) -> _Worker[R]:
    ours, theirs = _CONTEXT.Pipe()
    threads = max(1, (os.cpu_count() or 1) // workers)
    process = _CONTEXT.Process(target=_serve, args=(work, theirs, threads), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _send(one: _Worker[R], unit: list[Any]) -> None:
    """Hand a unit over; a process that died in the meantime is noticed at its pipe."""
    one.left, one.idle = list(unit), False
    with contextlib.suppress(OSError):
        one.pipe.send(unit)


def _end(one: _Worker[R]) -> None:
    one.process.kill()
    one.process.join()
    one.pipe.close()


def _serve(work: Work[Any], pipe: Connection, threads: int) -> None:
    """What a process does until its pipe is closed."""
    import torch

    torch.set_num_threads(threads)
    try:
        rows = work.begin()
        pipe.send(("idle", None))
        while True:
            for row in rows(pipe.recv()):
                pipe.send(("row", row))
            pipe.send(("idle", None))
    except DecodingError as error:
        pipe.send(("failed", EvaluationError(str(error))))
    except (EOFError, OSError, KeyboardInterrupt):
        pass
