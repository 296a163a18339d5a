"""Rows of an evaluation or a sweep by the machines of a Ray cluster; the same `Work` as processes.

Every node must have the project and its packages at the same place (an image, a shared folder).
"""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from core.decoding.errors import ConfigError, DecodingError, EvaluationError
from core.evaluation.workers.processes import Work, count_death, require_workers

R = TypeVar("R")
_ROOT = Path(__file__).parents[3]
_POLL_SECONDS = 0.1
_CONNECT_SECONDS = 5.0


class _Hand:
    """What an actor does: the work is begun once, then unit after unit."""

    def __init__(self, work: Work[Any]) -> None:
        self._work = work
        self._rows: Callable[[list[Any]], Iterator[Any]] | None = None

    def rows(self, unit: list[Any]) -> Iterator[Any]:
        if self._rows is None:
            import torch

            torch.set_num_threads(1)
            self._rows = self._work.begin()
        yield from self._rows(unit)


@dataclass(eq=False)
class _Worker(Generic[R]):
    """An actor, the rows that it is making, and those of its unit that have not come back."""

    actor: Any
    coming: Any = None
    left: list[Any] = field(default_factory=list)


def rows_on_ray(
    work: Work[R],
    done: Sequence[R] = (),
    *,
    address: str,
    workers: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[R]:
    """Yield the rows that `done` lacks, as actors of a Ray cluster hand them over.

    Args:
        address: as `ray.init` takes it; `local` makes a cluster of this machine, and ends it.
        workers: actors, each with one processor and models of its own.
        should_stop: asked ten times a second; what runs then is lost.

    Raises:
        ConfigError: Ray isn't installed, or there is no cluster at the address.
        EvaluationError: several actors died at the same runs.
        DecodingError: what the work itself raised.
    """
    require_workers(workers)
    ray = _connected(address, workers)
    try:
        yield from _rows(ray, work, deque(work.units(done)), workers, should_stop)
    finally:
        ray.shutdown()


def _connected(address: str, workers: int) -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigError(
            "Ray isn't installed: pip install -r requirements-ray.txt, here and on every node."
        ) from None
    own = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    environment = {"env_vars": {"PYTHONPATH": str(_ROOT), "TOKENIZERS_PARALLELISM": "false"}}
    try:
        _require_reachable(address)
        ray.init(address=address, log_to_driver=False, runtime_env=environment, **own)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise ConfigError(f"There is no Ray cluster at {address}: {_brief(error)}") from None
    return ray


def _require_reachable(address: str) -> None:
    """Raises OSError where nothing listens; Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()


def _brief(error: Exception) -> str:
    return f"{' '.join(str(error).split())[:200].rstrip('.')}."


def _rows(
    ray: Any,
    work: Work[R],
    todo: deque[list[Any]],
    workers: int,
    should_stop: Callable[[], bool],
) -> Iterator[R]:
    hired = ray.remote(num_cpus=1, max_restarts=0)(_Hand)
    shared = ray.put(work)
    crew: list[_Worker[R]] = []
    deaths: dict[Any, int] = {}
    while (todo or any(one.coming for one in crew)) and not should_stop():
        while len(crew) < min(workers, len(todo) + sum(bool(one.left) for one in crew)):
            crew.append(_Worker(hired.remote(shared)))
        for one in crew:
            if one.coming is None and todo:
                one.left = list(todo.popleft())
                one.coming = one.actor.rows.options(num_returns="streaming").remote(one.left)
        busy = [one for one in crew if one.coming is not None]
        ready, _ = ray.wait([one.coming for one in busy], timeout=_POLL_SECONDS)
        for one in [one for one in busy if one.coming in ready]:
            try:
                row = ray.get(next(one.coming))
            except StopIteration:
                one.coming = None
            except ray.exceptions.RayTaskError as error:
                raise _said(error) from None
            except ray.exceptions.RayError:
                crew.remove(one)
                _again(ray, one, todo, deaths)
            else:
                one.left.remove(work.key(row))
                yield row


def _said(error: Any) -> DecodingError:
    """What the work raised, as the sentence that it is."""
    if isinstance(error.cause, DecodingError):
        return EvaluationError(str(error.cause))
    return EvaluationError(f"A worker on Ray failed: {_brief(error.cause)}")


def _again(ray: Any, one: _Worker[Any], todo: deque[list[Any]], deaths: dict[Any, int]) -> None:
    """Put what an actor that died had not handed over first in the queue."""
    with contextlib.suppress(Exception):
        ray.kill(one.actor)
    count_death(deaths, one.left, "no memory, or a node that left")
    if one.left:
        todo.appendleft(one.left)
