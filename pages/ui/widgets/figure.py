"""One figure on a page: the chart as its own theme draws it, and its export."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from core.figures.base.theme import DARK, LIGHT
from pages.ui.widgets import style
from pages.ui.widgets.render_clock import drawn_at

if TYPE_CHECKING:
    from pandas import DataFrame

HERE = Path(__file__).parents[1]
_CONFIG = {"displayModeBar": False, "displaylogo": False, "showSendToCloud": False}
# What a caption takes of a figure's height, px, as `core.figures.base.sheet` lays it out.
_CAPTION_GAP, _CAPTION_LINE = 10, 15
_SAID = "captions_said"
# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@cache
def source(name: str) -> str:
    """The text of a component's file, by its path below `pages/ui`."""
    return (HERE / name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "decoding_explorer.export",
    html=source("widgets/export.html"),
    css=source("widgets/export.css"),
    js=source("widgets/export.js"),
)


def chart(
    name: str,
    draw: Callable[..., go.Figure],
    data: Callable[..., DataFrame],
    depends: tuple[Hashable, ...],
    *,
    of: tuple[object, ...] = (),
    on_click: Callable[[list[object]], None] | None = None,
) -> go.Figure:
    """Draw a figure and its export; returns what was drawn.

    Args:
        name: key of the chart and stem of the files.
        draw: makes the figure in a `theme`; called for both themes where it is exported.
        data: what the CSV holds.
        depends: all that the figure depends on, beside the theme; while it stays, so does the
            figure, which costs tens of milliseconds to build.
        of: the arguments that `draw` and `data` have in common.
        on_click: gets the `customdata` of a clicked mark.
    """
    draw, data = partial(draw, *of), partial(data, *of)
    figure = _drawn(name, draw, depends)
    with st.container(key=f"figure-{name}", gap=None):
        st.plotly_chart(
            figure,
            theme=None,
            key=f"chart-{name}",
            config=_CONFIG,
            alt=figure.layout.meta["alt"],
            on_select=_selected(name, on_click) if on_click else "ignore",
            selection_mode="points",
        )
        _export(name, figure, draw, data)
    return figure


def _drawn(name: str, draw: Callable[..., go.Figure], depends: tuple[Hashable, ...]) -> go.Figure:
    kept = st.session_state.setdefault("drawn", {})
    key = (style.theme().name, *depends)
    if name not in kept or kept[name][0] != key:
        figure = draw(theme=style.theme())
        kept[name] = (key, figure, _without_caption(figure))
    _, whole, bare = kept[name]
    return bare if whole.layout.meta["caption"] in st.session_state.get(_SAID, ()) else whole


def said(*captions: str) -> None:
    """Leave these captions out of the page's figures, which the page says once for all of them.

    An exported figure has its own.
    """
    st.session_state[_SAID] = captions


def _without_caption(figure: go.Figure) -> go.Figure:
    drawn = figure.to_dict()
    layout = drawn["layout"]
    own = [one for one in layout.get("annotations", ()) if one.get("name") == "caption"]
    if not own:
        return figure
    room = _CAPTION_GAP + _CAPTION_LINE * (1 + own[0]["text"].count("<br>"))
    layout["annotations"] = [one for one in layout["annotations"] if one is not own[0]]
    height = layout["height"]
    layout["height"] -= room
    layout["margin"]["b"] -= room
    for bar in filter(None, (trace.get("colorbar") for trace in drawn["data"])):
        # Placed from the figure's lower edge, in shares of its height.
        bar["y"] = (bar["y"] * height - room) / layout["height"]
    return go.Figure(drawn, _validate=False)


def _selected(name: str, on_click: Callable[[list[object]], None]) -> Callable[[], None]:
    """Hands the `customdata` of a clicked mark over; a chart drawn anew reports no mark at all."""

    def selected() -> None:
        state = st.session_state.get(f"chart-{name}")
        points = state["selection"]["points"] if state else []
        custom = points[0].get("customdata") if points else None
        if custom is not None:
            on_click(list(custom) if isinstance(custom, list | tuple) else [custom])

    return selected


def _export(
    name: str,
    figure: go.Figure,
    draw: Callable[..., go.Figure],
    data: Callable[[], DataFrame],
) -> None:
    popover = st.popover(
        "Export",
        icon=":material/download:",
        type="tertiary",
        key=f"export-{name}",
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        _component(
            key=f"export-bar-{name}",
            data={
                "figures": {look.name: draw(theme=look).to_json() for look in (LIGHT, DARK)},
                "csv": csv_text(data()),
                "name": f"decoding-{name}",
                "theme": style.theme().name,
                "caption": figure.layout.meta["caption"],
                "alt": figure.layout.meta["alt"],
                "drawn": drawn_at(),
            },
        )


def csv_text(frame: DataFrame) -> str:
    """The frame as CSV; text that a spreadsheet would run as a formula gets a leading quote."""
    guarded = frame.copy()
    for column in guarded.columns:
        if not _is_number(guarded[column].dtype):
            guarded[column] = guarded[column].map(_guard)
    return str(guarded.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC))


def _is_number(dtype: object) -> bool:
    return getattr(dtype, "kind", "O") in "biuf"


def _guard(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell
