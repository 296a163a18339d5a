"""Stop function of this thread's work, for functions that take no such argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..decoding.errors import LoadingStoppedError

ShouldStop = Callable[[], bool]


def never() -> bool:
    """Return False: nobody stops this work."""
    return False


def raise_if_stopped(should_stop: ShouldStop) -> None:
    """Raise LoadingStoppedError where the work is to stop."""
    if should_stop():
        raise LoadingStoppedError


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
    """Return the function that tells this thread's work to stop."""
    return _SHOULD_STOP.get()
