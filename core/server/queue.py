"""One fair queue for the models' compute: threads wait here until it is their session's turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock

from ..models.stopping import never, stoppable
from .shares import QUANTUM_SECONDS, Shares, Ticket

# Interval at which a waiting thread looks whether it was stopped.
POLL_SECONDS = 0.1


class FairQueue:
    """`Shares` among threads."""

    def __init__(self, quantum: float = QUANTUM_SECONDS) -> None:
        self.shares = Shares(time.perf_counter, quantum)
        self.lock = Lock()

    @property
    def waiting(self) -> int:
        """Number of jobs in line, the one whose turn it is included."""
        with self.lock:
            return self.shares.waiting

    @property
    def sessions(self) -> int:
        """Number of sessions in line, the one whose turn it is included."""
        with self.lock:
            return self.shares.sessions

    @contextmanager
    def turn(
        self, cancelled: Callable[[], bool] = never, session: Hashable = None
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
        self._queue, self._cancelled = queue, cancelled
        self._ticket = Ticket(self if session is None else session)
        with queue.lock:
            queue.shares.join(self._ticket)
        self.held = self._wait()

    def _wait(self) -> bool:
        """Wait until it is this ticket's turn; return False where that was cancelled."""
        while not self._ticket.called.wait(POLL_SECONDS):
            if self._cancelled():
                self.leave()
                return False
        return True

    def pass_on(self) -> None:
        """After a step: wait while it is the turn of others, once this one was long enough."""
        if self.held and self._queue.shares.is_over():
            with self._queue.lock:
                self._ticket.called.clear()
                self._queue.shares.pass_on()
            self.held = self._wait()

    def should_stop(self) -> bool:
        """Let others have their turn, then return whether to stop; asked after every forward."""
        self.pass_on()
        return self._cancelled() or not self.held

    def leave(self) -> None:
        """Give the turn back for good, or the place in line."""
        with self._queue.lock:
            self._queue.shares.leave(self._ticket)
        self.held = False


QUEUE = FairQueue()
