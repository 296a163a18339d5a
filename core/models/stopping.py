"""Whether the work of this thread is to stop, for what it calls without saying so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ShouldStop = Callable[[], bool]


def never() -> bool:
    """Of work that nobody stops."""
    return False


_SHOULD_STOP: ContextVar[ShouldStop] = ContextVar("should_stop", default=never)


@contextmanager
def stoppable(should_stop: ShouldStop) -> Iterator[None]:
    """Within it, in this thread, the reading of weights and chat templates ask `should_stop`.

    They raise `LoadingStoppedError` once it says so.
    """
    token = _SHOULD_STOP.set(should_stop)
    try:
        yield
    finally:
        _SHOULD_STOP.reset(token)


def current() -> ShouldStop:
    """What this thread's work asks whether it is to stop."""
    return _SHOULD_STOP.get()
