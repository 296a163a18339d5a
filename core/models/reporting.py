"""How far the loading of this thread is, for what it calls without saying so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Report = Callable[[str], None]


def unheard(_: str) -> None:
    """Of work that nobody asks about."""


_REPORT: ContextVar[Report] = ContextVar("report", default=unheard)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Within it, in this thread, what loads a model tells `report` in a few words how far it is."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def current_report() -> Report:
    """What this thread's work tells how far it is."""
    return _REPORT.get()
