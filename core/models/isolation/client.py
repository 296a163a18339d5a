"""Client of the `server` process, which handles untrusted files."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any

from ...decoding import errors
from ...decoding.errors import DecodingError, ModelError
from ...installation import IMPORT_FOLDER
from ...language import N_, Message
from ..reporting import current_report
from ..stopping import ShouldStop, never, raise_if_stopped
from .server import READY, answer, receive_message, send_message
from .texts import unpacked

# Garbage collection during the imports would take a sixth of the start time.
_START = (
    "import gc, sys; gc.disable(); sys.path.insert(0, {root!r}); "
    "from {package}.tasks import main; main({descriptor})"
)
_START_SECONDS = 180.0
_POLL_SECONDS = 0.05
_AT_ONCE = 4
_LONGEST_TOLD = 300
_TIME = N_("takes too much time")
_MEMORY = N_("takes too much memory, or makes its reader crash")
AVAILABLE = hasattr(os, "fork") and hasattr(socket, "send_fds")


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request.

    Args:
        cpu_seconds: processor time.
        seconds: wall-clock time, waiting included.
        memory_bytes: memory that the child may add to its initial memory.
    """

    cpu_seconds: int
    seconds: float
    memory_bytes: int


class LimitError(Exception):
    """A task exceeded a limit or crashed.

    `reason` completes a sentence that begins with the file's name, as in "took too long".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Server:
    """The server process, started at the first request and again after it has ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ready = False

    def open_channel(self, should_stop: ShouldStop) -> socket.socket:
        """Return a socket that is connected to a new child process."""
        ours, theirs = socket.socketpair()
        with theirs:
            for _ in range(2):  # Twice: the process may have been ended from outside.
                control = self._wait_until_ready(should_stop)
                try:
                    with self._lock:
                        socket.send_fds(control, [b"x"], [theirs.fileno()])
                    return ours
                except OSError:
                    self.close()
        ours.close()
        raise ModelError(N_("The process that reads models can't be started; look at free memory."))

    def start(self) -> socket.socket:
        """Start the process if it isn't running, without waiting; return its control socket."""
        with self._lock:
            if self._control is not None and self._process and self._process.poll() is None:
                return self._control
            self._drop()
            ours, theirs = socket.socketpair()
            code = _START.format(
                root=str(IMPORT_FOLDER), package=__package__, descriptor=theirs.fileno()
            )
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
            )
            theirs.close()
            self._control = ours
            return ours

    def close(self) -> None:
        """End the process and all its children."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._control = self._process = None
        self._ready = False

    def _wait_until_ready(self, should_stop: ShouldStop) -> socket.socket:
        deadline = time.monotonic() + _START_SECONDS
        control = self.start()
        while not self._ready:
            raise_if_stopped(should_stop)
            with self._lock:  # Only one of the waiting threads reads the byte.
                current = control is self._control and not self._ready
                if current and select.select([control], [], [], 0)[0]:
                    self._ready = control.recv(1) == READY
                    if not self._ready:
                        self._drop()
            if self._ready:
                break
            if control is not self._control or time.monotonic() > deadline:
                raise ModelError(
                    N_("The process that reads models can't be started; look at free memory.")
                )
            time.sleep(_POLL_SECONDS)
        return control


_SERVER = _Server()
_PLACES: dict[str, BoundedSemaphore] = {}
atexit.register(_SERVER.close)


def prepare() -> None:
    """Start the server process, without waiting for it."""
    if AVAILABLE:
        _SERVER.start()


def ask(
    task: str, limits: RequestLimits, should_stop: ShouldStop = never, **arguments: Any
) -> Any:  # JSON: the caller knows the task's shape.
    """Run a task in a new child process and return its result.

    Progress reports of the task go to this thread's `current_report`. On a system without fork
    the task runs in this process, without limits.

    Raises:
        DecodingError: the task refused the request; the error is the task's own.
        LimitError: the task exceeded a limit, crashed, or failed unexpectedly.
        LoadingStoppedError: `should_stop` returned true; the child has been killed.
    """
    if not AVAILABLE:
        from .tasks import TASKS

        return _value(answer(TASKS[task], arguments))
    with _turn(task, should_stop), _SERVER.open_channel(should_stop) as channel:
        begun = time.monotonic()
        receive = partial(_receive, channel, begun + limits.seconds, should_stop)
        pid = receive_message(receive)
        try:
            request = {
                "task": task,
                "arguments": arguments,
                "cpu_seconds": limits.cpu_seconds,
                "memory_bytes": limits.memory_bytes,
            }
            send_message(channel, request)
            while "told" in (reply := receive_message(receive)):
                current_report()(_shortened(unpacked(reply["told"])))
        except (EOFError, OSError):
            late = time.monotonic() - begun >= limits.cpu_seconds
            raise LimitError(_TIME if late else _MEMORY) from None
        finally:
            with suppress(OSError):
                # An open socket means that the child runs: its pid is not reused.
                if not select.select([channel], [], [], 0)[0] or channel.recv(1, socket.MSG_PEEK):
                    os.kill(pid, signal.SIGKILL)
    return _value(reply)


@contextmanager
def _turn(task: str, should_stop: ShouldStop) -> Iterator[None]:
    """Hold one of the task's `_AT_ONCE` places (semaphore) during the block."""
    places = _PLACES.setdefault(task, BoundedSemaphore(_AT_ONCE))
    while not places.acquire(timeout=_POLL_SECONDS):
        raise_if_stopped(should_stop)
    try:
        yield
    finally:
        places.release()


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TOLD else text[:_LONGEST_TOLD]


def _value(reply: dict[str, Any]) -> Any:
    if "value" in reply:
        return reply["value"]
    if "refused" in reply:
        kind = getattr(errors, reply["kind"], DecodingError)
        raise kind(unpacked(reply["refused"]))
    raise LimitError(
        _MEMORY
        if reply["failed"] == "memory"
        else Message("breaks its reader: {reply}", reply=reply["failed"])
    )


def _receive(channel: socket.socket, deadline: float, should_stop: ShouldStop, size: int) -> bytes:
    """Read exactly `size` bytes from the channel, waiting until `deadline`."""
    parts = []
    while size:
        raise_if_stopped(should_stop)
        if time.monotonic() > deadline:
            raise LimitError(_TIME)
        if not select.select([channel], [], [], _POLL_SECONDS)[0]:
            continue
        part = channel.recv(min(size, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
