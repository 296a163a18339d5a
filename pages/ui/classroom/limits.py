"""Limit of the events of a client within a time."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final


class EventLimit:
    """At most `count` events in `seconds` for each client."""

    MOST_CLIENTS: Final = 5_000

    def __init__(self, count: int, seconds: float) -> None:
        self._count, self._seconds = count, seconds
        self._events: OrderedDict[str, deque[float]] = OrderedDict()

    def allows(self, client: str, now: float) -> bool:
        """Return whether the client may have another event now."""
        events = self._events.get(client, ())
        return sum(now - at < self._seconds for at in events) < self._count

    def note(self, client: str, now: float) -> None:
        """Count an event; the clients that were quiet longest are forgotten."""
        self._events.setdefault(client, deque(maxlen=self._count)).append(now)
        self._events.move_to_end(client)
        if len(self._events) > self.MOST_CLIENTS:
            self._events.popitem(last=False)
