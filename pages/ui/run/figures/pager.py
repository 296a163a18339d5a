"""Pager over many columns: the position of the window, and buttons back and on."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st

from core.decoding.counting import span_of
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run.view import PageView
from pages.ui.widgets.chart import Drawing

# Names of the buttons, by their way and what the columns are.
_TURNS = {
    ("earlier", "steps"): N_("Earlier steps"),
    ("later", "steps"): N_("Later steps"),
    ("earlier", "tokens"): N_("Earlier tokens"),
    ("later", "tokens"): N_("Later tokens"),
    ("earlier", "rounds"): N_("Earlier rounds"),
    ("later", "rounds"): N_("Later rounds"),
    ("earlier", "positions"): N_("Earlier positions"),
    ("later", "positions"): N_("Later positions"),
}


class Window(NamedTuple):
    """Columns `first` to `last` (exclusive) of `total`; `earlier` begins the previous window.

    `before` columns are counted that the figure doesn't draw.
    """

    first: int
    last: int
    total: int
    earlier: int
    before: int = 0


def of_span(first: int, span: int, count: int, before: int = 0) -> Window:
    """Return the window of `span` columns that begins at `first`."""
    return Window(first, min(first + span, count), count, first - span, before)


def of_drawn(drawn: Drawing, count: int) -> Window:
    """Return the window that a figure shows, with fewer columns than requested if they are wide."""
    first, last = drawn.words["window"]
    return Window(first, last, count, max(0, first - (last - first)))


def draw(view: PageView, field: str, window: Window, what: str) -> None:
    """Draw the window in words between its two buttons; nothing if all columns fit.

    `field` is the view's field of the window's first column, `what` names the columns, as "steps".
    """
    if window.first == 0 and window.last == window.total:
        return
    with st.container(
        key=platform.key(f"pager-{what}"),
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        width="content",
    ):
        turn = partial(_turn, view, field, what)
        turn("earlier", "left", window.earlier, disabled=window.first == 0)
        st.markdown(
            tr(
                span_of(
                    what.capitalize(),
                    *(at + window.before for at in (window.first, window.last, window.total)),
                )
            ),
            width="content",
        )
        last = window.last == window.total
        turn("later", "right", window.last, disabled=last)


def _turn(
    view: PageView, field: str, what: str, way: str, side: str, first: int, *, disabled: bool
) -> None:
    st.button(
        tr(_TURNS[way, what]),
        key=platform.key(f"{way}-{what}"),
        icon=f":material/chevron_{side}:",
        type="tertiary",
        disabled=disabled,
        on_click=view.turn_page,
        args=(field, first),
    )
