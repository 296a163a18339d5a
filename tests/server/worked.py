"""Functions that a worker process calls for the tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


def hand_over(_model: object, *, on_value: Callable[[object], object]) -> None:
    """Call back with a value that has no pickle."""
    on_value(Lock())


def wait_for_stop(*, on_begin: Callable[[], object], should_stop: Callable[[], bool]) -> None:
    """Call back, then hold the turn until the call is stopped."""
    on_begin()
    while not should_stop():
        time.sleep(0.01)
