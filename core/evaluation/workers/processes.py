"""Pool of local processes, each with its own pipe, so that a crash loses no other process' rows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, cast

from ...decoding.errors import DecodingError, EvaluationError
from ...models.stopping import ShouldStop, never
from .work import POLL_SECONDS, Event, Work, require_workers

_CONTEXT = get_context("spawn")


class Processes:
    """A pool of processes; each receives the work once, by pickling."""

    drains = False
    _work: Work[Any]

    def __init__(self, count: int) -> None:
        require_workers(count)
        self._count = count
        self._processes: dict[Connection, Any] = {}
        self._idle: list[Connection] = []

    def open(self, work: Work[Any], _should_stop: ShouldStop, /) -> None:
        self._work = work

    def has_room(self, busy: int) -> bool:
        return busy < self._count

    def start(self, unit: list[Any]) -> Connection:
        """Send a unit to a process; a process that died is detected at its pipe."""
        pipe = self._idle.pop() if self._idle else self._begin()
        with contextlib.suppress(OSError):
            pipe.send(unit)
        return pipe

    def _begin(self) -> Connection:
        ours, theirs = _CONTEXT.Pipe()
        threads = max(1, (os.cpu_count() or 1) // self._count)
        process = _CONTEXT.Process(target=_serve, args=(self._work, theirs, threads), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        return ours

    def events(self) -> Iterator[Event]:
        for ready in connection.wait(list(self._processes), POLL_SECONDS):
            assert isinstance(ready, Connection)
            try:
                event = Event(ready, *ready.recv())
            except (EOFError, OSError):
                event = Event(ready, "died", f"the last with code {self._end(ready)}")
            if event.kind == "done":
                self._idle.append(ready)
            yield event

    def _end(self, pipe: Connection) -> int | None:
        """End a process; return its exit code."""
        process = self._processes.pop(pipe)
        process.kill()
        process.join()
        pipe.close()
        if pipe in self._idle:
            self._idle.remove(pipe)
        return cast("int | None", process.exitcode)

    def close(self) -> None:
        for pipe in list(self._processes):
            self._end(pipe)


def _serve(work: Work[Any], pipe: Connection, threads: int) -> None:
    """Run units until the pipe is closed."""
    import torch

    torch.set_num_threads(threads)
    try:
        run = work.begin()
        while True:
            for row in run(pipe.recv(), never):
                pipe.send(("row", row))
            pipe.send(("done", None))
    except DecodingError as error:
        pipe.send(("failed", EvaluationError(str(error))))
    except (EOFError, OSError, KeyboardInterrupt):
        pass
