"""Work of jobs on the models: in a worker process, or here where a worker can't do it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from inspect import signature
from typing import Any, TypeVar

from ...models.stopping import ShouldStop, never, stoppable
from ..job import ModelJob
from ..queue import FairQueue
from .client import Worker
from .codec import FindModel, NotShareableError
from .reference import ModelReference, UnloadedModel, receive

Result = TypeVar("Result")


class Workers:
    """Worker processes; a call goes to the one with the fewest calls, a started one first.

    Args:
        count: number of processes; with 0, and on Windows, all work is done in this one.
        find_model: returns this process's model for a reference in a result.
    """

    def __init__(self, count: int, find_model: FindModel) -> None:
        # A process inherits its socket, which Windows can't do.
        self._workers = [Worker(find_model) for _ in range(count if hasattr(os, "fork") else 0)]

    @property
    def sessions(self) -> list[Hashable]:
        """Session of each call that waits for a process or is at work in one."""
        return [session for worker in self._workers for session in worker.sessions]

    @property
    def count(self) -> int:
        """Number of processes."""
        return len(self._workers)

    def warm_up(self, reference: ModelReference) -> None:
        """Start one process after the other, and wait until it has loaded a model.

        Raises:
            LostWorkerError, DecodingError: as `compute`.
        """
        model = UnloadedModel(reference, _never)
        callbacks = {"on_turn": lambda: None}
        for worker in self._workers:
            worker.call(
                receive, [model], {}, callbacks, stops=False, session=None, should_stop=never
            )

    def compute(
        self,
        job: ModelJob,
        queue: FairQueue,
        function: Callable[..., Result],
        *args: Any,
        on_turn: Callable[[], None] = lambda: None,
        **named: Any,
    ) -> Result:
        """Call a function of the core in the job's turn.

        It gets `should_stop` where it has such a parameter. Callbacks among its arguments are named
        `on_...`; they are called in this process.

        Args:
            queue: for a call in this process; a worker has a queue of its own.
            on_turn: called when the turn has come.

        Raises:
            StoppedError, LoadingStoppedError: the job was stopped while it waited.
            LostWorkerError: the worker ended.
            DecodingError: as the function.
        """
        stops = "should_stop" in signature(function).parameters

        def begin() -> None:
            job.state = "running"
            on_turn()

        if self._workers:
            worker = min(self._workers, key=lambda one: (len(one.sessions), not one.started))
            job.state = "waiting"
            callbacks = {name: named[name] for name in named if name.startswith("on_")}
            data = {name: value for name, value in named.items() if name not in callbacks}
            try:
                result: Result = worker.call(
                    function,
                    args,
                    data,
                    {**callbacks, "on_turn": begin},
                    stops=stops,
                    session=job.session,
                    should_stop=job.should_stop,
                )
                return result
            except NotShareableError:
                pass

        def call(should_stop: ShouldStop) -> Result:
            begin()
            return function(*args, **named, **({"should_stop": should_stop} if stops else {}))

        if any(getattr(arg, "on_server", False) for arg in (*args, *named.values())):
            # The server may be this app's own endpoint, whose work would wait for this turn.
            with stoppable(job.should_stop):
                return call(job.should_stop)
        with job.turn_in(queue) as turn:
            return call(turn.should_stop)


def _never(_: ModelReference) -> Any:
    raise LookupError("no worker, no result of one")


IN_PROCESS = Workers(0, _never)
