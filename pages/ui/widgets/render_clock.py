"""Timestamps of a component's data: its script keeps the newest, whatever the order of arrival."""

from __future__ import annotations

from threading import Lock
from time import time

_lock = Lock()
_last = 0.0


def drawn_at() -> float:
    """Seconds since 1970, more at each call than at the one before, even if the clock falls."""
    global _last
    with _lock:
        _last = max(time(), _last + 1e-6)
        return _last
