"""Scripts take turns: of all sessions one is being drawn at a time.

Python runs one thread at a time whatever is done. Fifty pages that are drawn at once are all late,
and the server's own thread, which sends what they have drawn, waits for all of them before each
message.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests

from core.server.queue import FairQueue, Turn

# What is still not drawn after so long waits for something else than the processor: others go on.
LONGEST_SECONDS = 1.0


class ScriptTurns:
    """Whose script runs; a thread has at most one turn."""

    def __init__(self) -> None:
        self._queue = FairQueue()
        self._own = local()
        self._began = time.monotonic()

    def take(self) -> None:
        """Wait for this thread's turn, or until somebody's lasts too long."""
        self.leave()
        self._own.turn = Turn(self._queue, self._is_overdue)
        self._began = time.monotonic()

    def leave(self) -> None:
        """Give the turn back, where this thread has one."""
        turn: Turn | None = getattr(self._own, "turn", None)
        if turn is not None:
            self._own.turn = None
            turn.leave()

    def _is_overdue(self) -> bool:
        return time.monotonic() - self._began > LONGEST_SECONDS

    @contextmanager
    def away(self) -> Iterator[None]:
        """Others have their turns while this thread waits for something."""
        had = getattr(self._own, "turn", None) is not None
        self.leave()
        try:
            yield
        finally:
            if had:
                self.take()


TURNS = ScriptTurns()


def install() -> None:
    """From now on scripts take turns, for the whole server; Streamlit offers no hook around them.

    A request that comes while its script waits becomes one with what it waits for.
    """
    if getattr(ScriptRunner, "_takes_turns", False):
        return
    ready, run = ScriptRequests.on_scriptrunner_ready, ScriptRunner._run_script_thread

    def wait_and_get_ready(self: ScriptRequests) -> ScriptRequest:
        TURNS.take()
        return ready(self)

    def run_and_leave(self: ScriptRunner) -> None:
        try:
            run(self)
        finally:
            TURNS.leave()

    ScriptRequests.on_scriptrunner_ready = wait_and_get_ready  # type: ignore[method-assign]
    ScriptRunner._run_script_thread = run_and_leave  # type: ignore[method-assign]
    ScriptRunner._takes_turns = True  # type: ignore[attr-defined]
