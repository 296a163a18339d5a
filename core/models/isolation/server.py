"""The process that foreign files are parsed in: it forks one child for each request.

It imports what the tasks need once, so that a child costs a fork. A child is bounded by the kernel
(processor seconds, memory) and is killed by the one who asked, or with this process when the app
ends, however it ends.
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

from core.decoding.errors import DecodingError
from core.models.reporting import reporting

READY = b"R"
_LENGTH = struct.Struct("!I")


def send_message(channel: socket.socket, message: object) -> None:
    """One JSON value, its length before it."""
    raw = json.dumps(message).encode()
    channel.sendall(_LENGTH.pack(len(raw)) + raw)


def receive_message(
    receive: Callable[[int], bytes], most_bytes: int = 2**26
) -> Any:  # JSON: the reader knows its shape.
    """One JSON value, from a function that returns so many bytes.

    Raises:
        EOFError: the other side has closed.
        ValueError: a message of more than `most_bytes`.
    """
    (length,) = _LENGTH.unpack(receive(_LENGTH.size))
    if length > most_bytes:
        raise ValueError(f"a message of {length} bytes")
    return json.loads(receive(length))


def serve(descriptor: int, tasks: dict[str, Callable[..., Any]]) -> None:
    """Answer the requests that come in by this socket, until the other side closes it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The kernel forgets children that have ended.
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
    os.killpg(0, signal.SIGKILL)  # The children too; this process leads a group of its own.


def _run(channel: socket.socket, tasks: dict[str, Callable[..., Any]]) -> None:
    """Answer one request and end the process."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        send_message(channel, os.getpid())
        request = receive_message(lambda size: _exactly(channel, size))
        _bound(request["cpu_seconds"], request["memory_bytes"])
        with reporting(lambda text: send_message(channel, {"told": text})):
            reply = answer(tasks[request["task"]], request["arguments"])
        send_message(channel, reply)
    finally:
        os._exit(0)


def answer(task: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Do a task; the result, its refusal, or how it failed."""
    try:
        return {"value": task(**arguments)}
    except DecodingError as error:
        return {"refused": str(error), "kind": type(error).__name__}
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
    """Hold this process to so much processor time, and so much memory above what it has."""
    import resource  # Windows has none.

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # macOS takes this limit and doesn't keep to it.
        held = _data_bytes() + memory_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (held, held))


def _data_bytes() -> int:
    """Private memory of this process, as RLIMIT_DATA counts it; 0 where /proc doesn't tell."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
