"""Slots: places for runs on one page, each with a prefix for all names of its run.

View, widgets, fragments, figures and parameters of the address take their names from `key`. On a
page of one run the prefix is empty. A fragment keeps its slot and its reader's language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from core import language

P = ParamSpec("P")
R = TypeVar("R")


class Slot(NamedTuple):
    """A place for a run on a page.

    Args:
        prefix: prefix of the names of its run.
        common: names that it shares with the page, such as that of the menu of models.
    """

    prefix: str = ""
    common: frozenset[str] = frozenset()


PAGE = Slot()
_current: ContextVar[Slot] = ContextVar("slot", default=PAGE)


def current() -> Slot:
    """Return the slot whose run is drawn, or whose callback runs."""
    return _current.get()


def key(name: str) -> str:
    """Return the name with the prefix of the current slot."""
    prefix, common = current()
    return name if name in common else f"{prefix}{name}"


@contextmanager
def use(slot: Slot) -> Iterator[None]:
    """Make this slot the current one in the block."""
    before = _current.set(slot)
    try:
        yield
    finally:
        _current.reset(before)


def bound(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that always runs in the current slot and language."""
    slot, spoken = current(), language.current()

    @wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> R:
        with use(slot), language.use(spoken):
            return function(*args, **named)

    return run
