"""Tables of numbers and texts, in which a row may be picked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import streamlit as st

from core.figures.base.labels import MINUS
from core.language import tr
from pages.ui import platform
from pages.ui.widgets import closed

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


def draw(
    key: str,
    data: pd.DataFrame | Mapping[str, Sequence[Any]],
    *,
    numbers: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    widths: Mapping[str, Any] | None = None,
    height: int | Literal["auto", "stretch", "content"] = "auto",
    most_rows: int | None = None,
    row_height: int | None = None,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """Draw a table without its index.

    Args:
        numbers: printf formats, by the columns' names.
        notes: what is said of columns of numbers, by their names.
        widths: of columns, in px or in Streamlit's words, by their names.
        most_rows: so many rows are in sight at once.
        row_height: px; where there is room for several lines, a text is broken into them.
        on_pick: gets the place of a row that was clicked.
    """

    key = platform.key(key)

    def picked() -> None:
        state = st.session_state.get(key)
        if on_pick and state and state["selection"]["rows"]:
            on_pick(int(state["selection"]["rows"][0]))

    if closed.state() == "closed":
        st.empty()
        return
    on_select: Any = picked if on_pick else "ignore"
    frame, help_texts, wide = pd.DataFrame(data), notes or {}, dict(widths or {})
    signed = {n: form for n, form in (numbers or {}).items() if (pd.to_numeric(frame[n]) < 0).any()}
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(
            tr(name),
            # A display value counts only without a format.
            format=None if name in signed else form,
            help=(name in help_texts and tr(help_texts[name])) or None,
            width=wide.pop(name, None),
        )
        for name, form in (numbers or {}).items()
    }
    for name in frame.columns.difference(list(columns)):
        columns[name] = st.column_config.Column(tr(name), width=wide.get(name))
    st.dataframe(
        _with_minus(frame, signed) if signed else frame,
        key=key,
        hide_index=True,
        height=height if most_rows is None else min(len(frame), most_rows) * 35 + 38,
        on_select=on_select,
        selection_mode="single-row",
        row_height=row_height,
        column_config=columns,
    )


def _with_minus(frame: pd.DataFrame, forms: Mapping[str, str]) -> Styler:
    """Return a table whose numbers are shown with the minus sign of the figures; they are sorted
    and copied as numbers."""

    def shown(form: str, number: float) -> str:
        return (form % number).replace("-", MINUS)

    return frame.style.format({n: partial(shown, form) for n, form in forms.items()}, na_rep="")
