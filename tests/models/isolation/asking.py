"""Asking the process that reads what strangers wrote; nothing here needs torch."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from core.models.isolation import client
from core.models.isolation.client import RequestLimits, ask
from core.models.stopping import ShouldStop, never

# A chat template without an end, and one whose text doubles.
LOOP = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
DOUBLING = (
    "{% set n = namespace(a='xxxxxxxx') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}"
    "{% endfor %}{{ n.a }}"
)
# A process that knows this task alone starts in a fifth of the time.
CHATS_ALONE = (
    "import sys; sys.path.insert(0, {root!r});"
    "from core.models.isolation.chat_task import write_chat;"
    "from core.models.isolation.server import serve;"
    "write_chat('x', [{{'role': 'user', 'content': 'x'}}], True, True, {{}}, [], None);"
    "serve({descriptor}, {{'chat': write_chat}})"
)
LIMITS = RequestLimits(cpu_seconds=20, seconds=60.0, memory_bytes=2**27)


def chat(template: str, limits: RequestLimits = LIMITS, should_stop: ShouldStop = never) -> object:
    return ask(
        "chat",
        limits,
        should_stop,
        template=template,
        messages=[{"role": "user", "content": "the fox"}],
        open_answer=True,
        marked=False,
        special_tokens={},
        added_tokens=[],
        control_tokens=None,
    )


def children() -> set[int]:
    """The children of the process that answers."""
    assert client._SERVER._process
    server_pid = client._SERVER._process.pid
    pids = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == server_pid and fields[0] != "Z":
            pids.add(int(path.parent.name))
    return pids


def wait_until(reached: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Return whether the process runs; an ended one may still wait for its parent to reap it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status
