"""One fair queue for the models' compute: threads wait here until it is their session's turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from core.models.stopping import stoppable
from core.server.shares import QUANTUM_SECONDS, Shares, Ticket

# How often one who waits looks whether it was stopped.
POLL_SECONDS = 0.1


def _never() -> bool:
    return False


class _Waiting(Ticket):
    """A ticket whose thread sleeps until it is called."""

    def __init__(self, session: Hashable) -> None:
        super().__init__(session)
        self.called = Event()

    def call(self) -> None:
        self.called.set()


class FairQueue:
    """`Shares` among threads."""

    def __init__(self, quantum: float = QUANTUM_SECONDS) -> None:
        self._shares = Shares(time.perf_counter, quantum)
        self._lock = Lock()

    @property
    def waiting(self) -> int:
        """How many jobs stand in line, the one whose turn it is included."""
        with self._lock:
            return self._shares.waiting

    @property
    def sessions(self) -> int:
        """How many sessions stand in line, the one whose turn it is included."""
        with self._lock:
            return self._shares.sessions

    def enter(self, ticket: _Waiting, cancelled: Callable[[], bool]) -> bool:
        """Wait for the turn; False where the waiting was cancelled."""
        with self._lock:
            self._shares.join(ticket)
        return self._wait(ticket, cancelled)

    def pass_on(self, ticket: _Waiting, cancelled: Callable[[], bool]) -> bool:
        """Let others have the turn where it has lasted long enough, and wait for the next one."""
        if not self._shares.is_over():
            return True
        with self._lock:
            ticket.called.clear()
            self._shares.pass_on()
        return self._wait(ticket, cancelled)

    def leave(self, ticket: _Waiting) -> None:
        """Give back the turn, or the place in line."""
        with self._lock:
            self._shares.leave(ticket)

    def _wait(self, ticket: _Waiting, cancelled: Callable[[], bool]) -> bool:
        while not ticket.called.wait(POLL_SECONDS):
            if cancelled():
                self.leave(ticket)
                return False
        return True

    @contextmanager
    def turn(
        self, cancelled: Callable[[], bool] = _never, session: Hashable = None
    ) -> Iterator[Turn]:
        """Wait for the turn and hold it; `cancelled` ends the waiting, `held` is False then.

        Args:
            session: whose time it is; without one it is a session of its own.
        """
        turn = Turn(self, cancelled, session)
        try:
            with stoppable(turn.should_stop):
                yield turn
        finally:
            turn.leave()


class Turn:
    """The right to compute; between two steps others may have theirs."""

    def __init__(
        self, queue: FairQueue, cancelled: Callable[[], bool], session: Hashable = None
    ) -> None:
        self._queue = queue
        self._cancelled = cancelled
        self._ticket = _Waiting(self if session is None else session)
        self.held = queue.enter(self._ticket, cancelled)

    def pass_on(self) -> None:
        """After a step: wait while it is the turn of others."""
        if self.held:
            self.held = self._queue.pass_on(self._ticket, self._cancelled)

    def should_stop(self) -> bool:
        """Asked after every forward: lets the others have theirs, then says whether to stop."""
        self.pass_on()
        return self._cancelled() or not self.held

    def leave(self) -> None:
        """Give the turn back for good."""
        self._queue.leave(self._ticket)
        self.held = False


QUEUE = FairQueue()
