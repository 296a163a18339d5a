"""Fair shares of the models' time between sessions, whatever they run and how often."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from threading import Event

# A turn goes on for so long while others wait. A step is often shorter, and waking another thread
# costs as much as one.
QUANTUM_SECONDS = 0.02


class Ticket:
    """One job's place among those of its session; `called` once it has the turn."""

    def __init__(self, session: Hashable) -> None:
        self.session = session
        self.called = Event()


class Shares:
    """The session that has used the least time goes next; its jobs take turns among themselves.

    Start-time fair queueing (Goyal, Vin and Cheng 1996) with equal weights: a session that comes
    begins with what the one at work had used when its turn began, so that an idle past earns
    nothing. Time that nobody waited for is charged to nobody.

    Args:
        clock: in seconds.
        quantum: a turn's least length while others wait, in seconds.
    """

    def __init__(self, clock: Callable[[], float], quantum: float = QUANTUM_SECONDS) -> None:
        self._clock, self._quantum = clock, quantum
        self._lines: dict[Hashable, deque[Ticket]] = {}
        self._used: dict[Hashable, float] = {}
        self.holder: Ticket | None = None
        # Of the holder: since when its turn is charged, and what its session had used by then.
        self._since = self._virtual = 0.0

    @property
    def waiting(self) -> int:
        """Number of tickets in line, the holder's included."""
        return sum(map(len, self._lines.values())) + (self.holder is not None)

    @property
    def sessions(self) -> int:
        """Number of sessions that want the turn or have it."""
        holder = self.holder
        return len(self._lines) + (holder is not None and holder.session not in self._lines)

    def join(self, ticket: Ticket) -> None:
        """Stand in line, or get the turn at once where nobody has it."""
        session, holder = ticket.session, self.holder
        if session not in self._lines and (holder is None or holder.session != session):
            self._used[session] = max(self._used.get(session, 0.0), self._virtual)
        if not self._lines:
            self._since = self._clock()
        self._lines.setdefault(session, deque()).append(ticket)
        self._call_next()

    def is_over(self) -> bool:
        """Return whether others wait and the turn has lasted long enough."""
        return bool(self._lines) and self._clock() - self._since >= self._quantum

    def pass_on(self) -> None:
        """Send the holder to the end of its session's line, and give the turn to the next one."""
        assert self.holder is not None
        ticket, self.holder = self.holder, None
        self._used[ticket.session] += self._clock() - self._since
        self._lines.setdefault(ticket.session, deque()).append(ticket)
        self._call_next()

    def leave(self, ticket: Ticket) -> None:
        """Give back the turn, or the place in line."""
        line = self._lines.get(ticket.session)
        if self.holder is ticket:
            self.holder = None
            if self._lines:
                self._used[ticket.session] += self._clock() - self._since
        elif line and ticket in line:
            line.remove(ticket)
            if not line:
                del self._lines[ticket.session]
        self._call_next()
        if self.holder is None:
            self._used.clear()
            self._virtual = 0.0
            return
        gone = self._used.keys() - self._lines.keys() - {self.holder.session}
        # A session that has used more than the holder's is ahead: its debt stays.
        for session in [name for name in gone if self._used[name] <= self._virtual]:
            del self._used[session]

    def _call_next(self) -> None:
        if self.holder is not None or not self._lines:
            return
        session = min(self._lines, key=self._used.__getitem__)
        line = self._lines.pop(session)
        self.holder = line.popleft()
        if line:
            self._lines[session] = line
        self._since, self._virtual = self._clock(), self._used[session]
        self.holder.called.set()
