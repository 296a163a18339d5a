"""Worker process: runs the functions that the app sends, one after the other by fair turns."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from multiprocessing.connection import Connection
from pkgutil import resolve_name
from threading import Event, Lock, Thread
from typing import Any

from core.decoding.errors import DecodingError, LoadingStoppedError
from core.models.reporting import Report
from core.models.stopping import ShouldStop
from core.models.store import ModelStore
from core.server.queue import FairQueue
from core.server.worker.codec import ModelReference, NotShareableError, dump, load, share

# Steps wait so long for others, the first one aside.
_BATCH_SECONDS = 0.03


@dataclass(eq=False)
class _Call:
    """A function at work; `news` is set where steps wait to be sent."""

    stopping: Event = field(default_factory=Event)
    news: Event = field(default_factory=Event)
    steps: list[Any] = field(default_factory=list)
    ended: bool = False

    def add(self, step: Any) -> None:
        self.steps.append(step)
        self.news.set()


class WorkerProcess:
    """Answers the app over one connection until it closes."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._sending = connection, Lock()
        self._queue = FairQueue()
        self._calls: dict[int, _Call] = {}
        self._stores = {
            "model": ModelStore(_load_model, most=3),
            "rewards": ModelStore(_load_rewards, most=1),
        }

    def serve(self) -> None:
        """Take requests until the app has gone."""
        while True:
            try:
                kind, number, content = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # Threads may still be computing.
            if kind == "start":
                self._calls[number] = call = _Call()
                Thread(target=self._run, args=(number, call, *content), daemon=True).start()
            elif kind == "stop" and number in self._calls:
                self._calls[number].stopping.set()

    def _run(self, number: int, call: _Call, function: str, session: Any, data: bytes) -> None:
        sender = Thread(target=self._send_steps, args=(number, call), daemon=True)
        sender.start()
        try:
            outcome = "result", dump(self._outcome(number, call, function, session, data))
        except NotShareableError as error:
            outcome = "error", RuntimeError(str(error))
        except DecodingError as error:
            outcome = "error", _sendable(error)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            outcome = "error", RuntimeError(f"{type(error).__name__}: {error}")
        call.ended = True
        call.news.set()
        sender.join()
        del self._calls[number]
        self._send(outcome[0], number, outcome[1])

    def _outcome(self, number: int, call: _Call, function: str, session: Any, data: bytes) -> Any:
        stopped = call.stopping.is_set

        def find_model(reference: ModelReference) -> Any:
            return self._stores[reference.kind].get("\n".join(reference), stopped)

        args, named = load(data, find_model)
        work: Callable[..., Any] = resolve_name(function)
        with self._queue.turn(stopped, session) as turn:
            if not turn.held:
                raise LoadingStoppedError
            self._send("turn", number, None)

            def on_step(step: Any) -> None:
                call.add(step)
                turn.pass_on()

            hooks = {"on_step": on_step, "should_stop": stopped}
            return work(
                *args, **named, **{n: hooks[n] for n in signature(work).parameters if n in hooks}
            )

    def _send_steps(self, number: int, call: _Call) -> None:
        while not call.ended or call.steps:
            call.news.wait()
            call.news.clear()
            steps, call.steps = call.steps, []
            if steps:
                self._send("steps", number, steps)
            if not call.ended:
                call.stopping.wait(_BATCH_SECONDS)

    def _send(self, kind: str, number: int, content: Any) -> None:
        with self._sending:
            self._connection.send((kind, number, content))


def _sendable(error: DecodingError) -> DecodingError:
    """Return the error, or its sentence alone where its class can't be read back."""
    try:
        same: DecodingError = pickle.loads(pickle.dumps(error))
    except Exception:
        return DecodingError(str(error))
    return same


def _load_model(key: str, should_stop: ShouldStop, report: Report) -> Any:
    from core.models.registry import load_model
    from core.models.threads import leave_a_processor

    reference = ModelReference(*key.split("\n"))  # type: ignore[arg-type]
    model = load_model(reference.place, should_stop=should_stop, on_progress=report)
    model.model_id = reference.name
    leave_a_processor()
    share(model, reference)
    gc.freeze()
    return model


def _load_rewards(key: str, should_stop: ShouldStop, _: Report) -> Any:
    from core.models.registry import load_reward_model

    reference = ModelReference(*key.split("\n"))  # type: ignore[arg-type]
    model = load_reward_model(reference.place, should_stop=should_stop)
    share(model, reference)
    return model


def main(descriptor: int) -> None:
    """Serve the app at the other end of a socket."""
    WorkerProcess(Connection(descriptor)).serve()
