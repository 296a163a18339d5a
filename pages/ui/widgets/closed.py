"""Tabs that are drawn while they are closed: their charts are empty until the browser rests.

It then fetches what they show, so that a tab which is opened shows it at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

State = Literal["", "open", "closed"]
_state: ContextVar[State] = ContextVar("tab", default="")


@contextmanager
def tab(*, is_open: bool) -> Iterator[None]:
    """Draw the content of a tab, which may be closed."""
    before = _state.set("open" if is_open else "closed")
    try:
        yield
    finally:
        _state.reset(before)


def state() -> State:
    """Return whether the tab under construction is open or closed; empty outside of tabs."""
    return _state.get()
