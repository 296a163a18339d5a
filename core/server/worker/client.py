"""Calls of functions in the worker process, from the process that draws pages."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

from ...decoding.errors import DecodingError
from ...installation import IMPORT_FOLDER
from ...models.stopping import ShouldStop
from .codec import FindModel, dump, load
from .process import CallRequest

_START = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from {package}.process import main; main({descriptor})"
)
_POLL_SECONDS = 0.05
_Messages = SimpleQueue[tuple[str, Any]]


class _Call(NamedTuple):
    """A call under way."""

    connection: Connection
    messages: _Messages
    session: Hashable


class LostWorkerError(DecodingError):
    """The worker process ended while it worked."""

    def __init__(self) -> None:
        super().__init__(
            "The process that runs the models has ended, perhaps for lack of memory; it is started "
            "again: repeat what you did."
        )


class Worker:
    """A worker process; it is started at the first call, and again after it has ended.

    It ends with this process: at once where that ends in order, else when it sees the connection
    closed.

    Args:
        find_model: returns this process's model for a reference in a result.
    """

    def __init__(self, find_model: FindModel) -> None:
        self._find_model = find_model
        self._lock, self._numbers = Lock(), count()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._calls: dict[int, _Call] = {}
        atexit.register(self.close)

    @property
    def sessions(self) -> list[Hashable]:
        """Session of each call under way."""
        return [call.session for call in list(self._calls.values())]

    @property
    def started(self) -> bool:
        """Return whether the process is there, so that a call needs no start."""
        return self._connection is not None

    def call(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        named: Mapping[str, Any],
        callbacks: Mapping[str, Callable[..., object]],
        *,
        stops: bool,
        session: Hashable,
        should_stop: ShouldStop,
    ) -> Any:
        """Call a function in the worker and return its result.

        Args:
            callbacks: its arguments that are called here, and `on_turn`, when the work begins.
            stops: it has a parameter `should_stop`.
            session: calls of one session share its time in the worker's queue.

        Raises:
            NotShareableError: an argument can't be sent; nothing was done.
            LostWorkerError: the worker ended in the middle of the work; a call that still waited
                for its turn is sent again, once.
            DecodingError: as the function.
        """
        path = f"{function.__module__}:{function.__qualname__}"
        names = [name for name in callbacks if name != "on_turn"]
        request = CallRequest(path, dump((args, named)), names, stops, session)
        number, messages = self._send(request)
        stopped = begun = repeated = False
        while True:
            try:
                kind, content = messages.get(timeout=_POLL_SECONDS)
            except Empty:
                kind, content = "", None
            if kind == "callbacks":
                begun = True
                try:
                    for name, values in content:
                        callbacks[name](*load(values, self._find_model))
                except BaseException:
                    self._stop(number)  # Nobody takes its result.
                    raise
            elif kind == "result":
                return load(content, self._find_model)
            elif kind == "error":
                raise content
            elif kind == "lost":
                # Once: its model may be what the process has ended of.
                if begun or repeated:
                    raise LostWorkerError
                repeated, stopped = True, False
                number, messages = self._send(request)
            if not stopped and should_stop():
                stopped = True
                self._stop(number)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._process:
                self._process.kill()
                self._process.wait()

    def _stop(self, number: int) -> None:
        with suppress(OSError), self._lock:
            if self._connection:
                self._connection.send((number, None))

    def _send(self, request: CallRequest) -> tuple[int, _Messages]:
        number, messages = next(self._numbers), _Messages()
        with self._lock:
            for _ in range(2):  # Twice: the process may have just ended.
                connection = self._connected()
                self._calls[number] = _Call(connection, messages, request.session)
                try:
                    connection.send((number, request))
                    return number, messages
                except OSError:
                    del self._calls[number]
                    self._connection = None
        raise LostWorkerError

    def _connected(self) -> Connection:
        if self._connection is not None and self._process and self._process.poll() is None:
            return self._connection
        ours, theirs = socket.socketpair()
        code = _START.format(
            root=str(IMPORT_FOLDER), package=__package__, descriptor=theirs.fileno()
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl+C is the app's.
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
        )
        theirs.close()
        self._connection = Connection(ours.detach())
        Thread(target=self._read, args=(self._connection,), daemon=True).start()
        return self._connection

    def _read(self, connection: Connection) -> None:
        """Hand each message to its call; fail all calls when the process has ended."""
        while True:
            try:
                number, kind, content = connection.recv()
            except (EOFError, OSError):
                break
            self._calls[number].messages.put((kind, content))
            if kind in ("result", "error"):
                del self._calls[number]
        with self._lock:
            if self._connection is connection:
                self._connection = None
            lost = [at for at, call in self._calls.items() if call.connection is connection]
            for number in lost:
                self._calls.pop(number).messages.put(("lost", None))
