"""Worker process: runs the functions that the app sends, in fair turns."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pkgutil import resolve_name
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from ...decoding.errors import DecodingError, LoadingStoppedError, ModelError
from ...models.importing import without_collections
from ...models.registry import load_model, load_reward_model
from ...models.reporting import Report
from ...models.stopping import ShouldStop
from ...models.store import ModelStore
from ..queue import FairQueue
from .codec import NotShareableError, dump, load
from .reference import ModelReference, share

# Callbacks wait so long for others; the first ones don't: the turn, the prompt, the first token.
_BATCH_SECONDS = 0.03
_AT_ONCE = 3


class CallRequest(NamedTuple):
    """A call of a function.

    Args:
        function: as `module:name`.
        arguments: `(args, named)` by `codec.dump`.
        callbacks: names of its arguments that are callbacks.
        stops: it has a parameter `should_stop`.
        session: calls of one session share its time.
    """

    function: str
    arguments: bytes
    callbacks: Sequence[str]
    stops: bool
    session: Any


@dataclass(eq=False)
class _Call:
    """A call at work; `news` is set where callbacks wait to be sent."""

    request: CallRequest
    stopping: Event = field(default_factory=Event)
    news: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)
    waiting: deque[tuple[str, bytes]] = field(default_factory=deque)

    def call_back(self, name: str, *args: Any) -> None:
        """Raises RuntimeError for arguments that have no pickle: the function fails with it."""
        try:
            self.waiting.append((name, dump(args)))
        except NotShareableError as error:
            raise RuntimeError(
                f"{name} can't be called in the app's process, because one of its arguments can't "
                f"be sent: {error}"
            ) from error
        self.news.set()


class WorkerProcess:
    """Answers the app over one connection until it closes."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._sending = connection, Lock()
        self._queue = FairQueue()
        self._calls: dict[int, _Call] = {}
        self._models = ModelStore(_load_model, most=3)

    def serve(self) -> None:
        """Take requests until the app has gone."""
        while True:
            try:
                number, request = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # Threads may still compute.
            if request is not None:
                self._calls[number] = call = _Call(request)
                Thread(target=self._run, args=(number, call), daemon=True).start()
            elif number in self._calls:
                self._calls[number].stopping.set()

    def _run(self, number: int, call: _Call) -> None:
        sender = Thread(target=self._send_callbacks, args=(number, call), daemon=True)
        sender.start()
        kind = "error"
        content: Any
        try:
            kind, content = "result", dump(self._result(call))
        except DecodingError as error:
            content = _sendable(error)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            content = RuntimeError(f"{type(error).__name__}: {error}")
        call.ended.set()
        call.news.set()
        sender.join()
        del self._calls[number]
        self._send(number, kind, content)

    def _result(self, call: _Call) -> Any:
        request, stopped = call.request, call.stopping.is_set
        args, named = load(request.arguments, lambda reference: self._model(reference, stopped))
        for name in request.callbacks:
            named[name] = partial(call.call_back, name)
        with self._queue.turn(stopped, request.session) as turn:
            if not turn.held:
                raise LoadingStoppedError
            call.call_back("on_turn")
            if request.stops:
                named["should_stop"] = turn.should_stop
            return resolve_name(request.function)(*args, **named)

    def _model(self, reference: ModelReference, should_stop: ShouldStop) -> Any:
        key = "\n".join((reference.place, reference.name, reference.kind))
        model = self._models.get(key, should_stop)
        if reference.revision in ("", model.revision):
            return model
        self._models.drop(key)  # The app has loaded the files again since they changed.
        model = self._models.get(key, should_stop)
        if model.revision != reference.revision:
            raise ModelError(f"The files of {reference.name} have changed; load the model again.")
        return model

    def _send_callbacks(self, number: int, call: _Call) -> None:
        sent = 0
        while not call.ended.is_set() or call.waiting:
            call.news.wait()
            call.news.clear()
            # Another thread appends meanwhile: what comes late waits for the next round.
            callbacks = [call.waiting.popleft() for _ in range(len(call.waiting))]
            if callbacks:
                self._send(number, "callbacks", callbacks)
            sent += len(callbacks)
            if sent >= _AT_ONCE:
                call.ended.wait(_BATCH_SECONDS)

    def _send(self, number: int, kind: str, content: Any) -> None:
        with self._sending:
            self._connection.send((number, kind, content))


def _sendable(error: DecodingError) -> DecodingError:
    """Return the error, or only its message if the receiver can't unpickle its class."""
    try:
        same: DecodingError = pickle.loads(pickle.dumps(error))
    except Exception:
        return DecodingError(str(error))
    return same


def _load_model(key: str, should_stop: ShouldStop, report: Report) -> Any:
    with without_collections():  # It imports torch.
        from ...models.threads import leave_a_processor

    reference = ModelReference(*key.split("\n"))  # type: ignore[arg-type]
    leave_a_processor()
    model: Any
    if reference.kind == "rewards":
        model = load_reward_model(reference.place, should_stop=should_stop)
    else:
        model = load_model(reference.place, should_stop=should_stop, on_progress=report)
        model.model_id = reference.name
    share(model, reference)
    gc.freeze()
    return model


def main(descriptor: int) -> None:
    """Serve the app at the other end of a socket."""
    WorkerProcess(Connection(descriptor)).serve()
