"""Progress reports of this thread's load, for functions that take no such argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Report = Callable[[str], None]


def unheard(_: str) -> None:
    """Drop a report."""


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
    """Return the function that takes this thread's progress."""
    return _REPORT.get()
