"""Server process that parses untrusted files: it forks one child for each request.

It imports the tasks' modules once, so that a child costs only a fork. The kernel limits a child's
processor time and memory. The client kills the child; all children die with this process, which
ends when the app ends, even after a crash.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...decoding.errors import DecodingError
from ..reporting import reporting
from .texts import packed

READY = b"R"
_LENGTH = struct.Struct("!I")


def send_message(channel: socket.socket, message: object) -> None:
    """Send one JSON value, preceded by its length."""
    raw = json.dumps(message).encode()
    channel.sendall(_LENGTH.pack(len(raw)) + raw)


def receive_message(
    receive: Callable[[int], bytes], most_bytes: int = 2**26
) -> Any:  # JSON: the reader knows its shape.
    """Return one JSON value; `receive(size)` returns exactly `size` bytes.

    Raises:
        EOFError: the other side has closed.
        ValueError: the message is longer than `most_bytes`.
    """
    (length,) = _LENGTH.unpack(receive(_LENGTH.size))
    if length > most_bytes:
        raise ValueError(f"a message of {length} bytes")
    return json.loads(receive(length))


def serve(descriptor: int, tasks: dict[str, Callable[..., Any]]) -> None:
    """Answer the requests that arrive on this socket, until the other side closes it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The kernel reaps ended children.
    with socket.socket(fileno=descriptor) as control:
        control.sendall(READY)
        while True:
            message, descriptors, *_ = socket.recv_fds(control, 1, 1)
            if not message:
                break
            with socket.socket(fileno=descriptors[0]) as channel:
                if os.fork() == 0:
                    control.close()
                    _run(channel, tasks)
    os.killpg(0, signal.SIGKILL)  # Kills the children too: this process leads its own group.


def _run(channel: socket.socket, tasks: dict[str, Callable[..., Any]]) -> None:
    """Answer one request and end the process."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        send_message(channel, os.getpid())
        request = receive_message(lambda size: _exactly(channel, size))
        _bound(request["cpu_seconds"], request["memory_bytes"])
        with reporting(lambda text: send_message(channel, {"told": packed(text)})):
            reply = answer(tasks[request["task"]], request["arguments"])
        send_message(channel, reply)
    finally:
        os._exit(0)


def answer(task: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a task; return its result, its refusal, or its failure."""
    try:
        return {"value": task(**arguments)}
    except DecodingError as error:
        return {"refused": packed(error), "kind": type(error).__name__}
    except KeyboardInterrupt:
        raise
    except MemoryError:
        return {"failed": "memory"}
    except BaseException as error:  # A panic of a library in Rust is no Exception.
        return {"failed": " ".join(f"{error} ({type(error).__name__})".split())[:300]}


def _exactly(channel: socket.socket, size: int) -> bytes:
    raw = channel.recv(size, socket.MSG_WAITALL)
    if len(raw) < size:
        raise EOFError
    return raw


def _bound(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process's further processor time (seconds) and memory (bytes)."""
    import resource  # Windows has none.

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # macOS accepts this limit but ignores it.
        held = _data_bytes() + memory_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (held, held))


def _data_bytes() -> int:
    """Return this process's private memory in bytes, as RLIMIT_DATA counts it; 0 if unknown."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
