"""One fair queue for the model's compute: sessions take turns, one step at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

POLL_SECONDS = 0.1


def _never() -> bool:
    return False


class FairQueue:
    """First come, first served; whoever passes the turn on goes to the end of the line."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._line: deque[object] = deque()

    @property
    def waiting(self) -> int:
        """How many stand in line, the one whose turn it is included."""
        return len(self._line)

    def _enter(self, ticket: object, cancelled: Callable[[], bool]) -> bool:
        with self._condition:
            self._line.append(ticket)
            while self._line[0] is not ticket:
                self._condition.wait(POLL_SECONDS)
                if cancelled():
                    self._line.remove(ticket)
                    return False
            return True

    def _leave(self, ticket: object) -> None:
        with self._condition:
            if ticket in self._line:
                self._line.remove(ticket)
            self._condition.notify_all()

    @contextmanager
    def turn(self, cancelled: Callable[[], bool] = _never) -> Iterator[Turn]:
        """Wait for the turn and hold it; `cancelled` ends the waiting, `held` is False then."""
        turn = Turn(self, cancelled)
        try:
            yield turn
        finally:
            turn.leave()


class Turn:
    """The right to compute; `pass_on` lets the next in line do one step."""

    def __init__(self, queue: FairQueue, cancelled: Callable[[], bool]) -> None:
        self._queue = queue
        self._cancelled = cancelled
        self._ticket = object()
        self.held = queue._enter(self._ticket, cancelled)

    def pass_on(self) -> None:
        """Go to the end of the line and wait until it is this one's turn again."""
        if self._queue.waiting > 1:
            self._queue._leave(self._ticket)
            self.held = self._queue._enter(self._ticket, self._cancelled)

    def should_stop(self) -> bool:
        """Asked after every forward: lets the others have theirs, then says whether to stop."""
        self.pass_on()
        return self._cancelled() or not self.held

    def leave(self) -> None:
        """Give the turn back for good."""
        self._queue._leave(self._ticket)
        self.held = False


QUEUE = FairQueue()
