"""One figure on a page: the chart as its own theme draws it, and its export."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from core.export.part import Part, stem
from core.figures.base.paper import Paper
from core.figures.base.plain import plain_values
from pages.ui import registry
from pages.ui.shell import figure_choices, fragments
from pages.ui.widgets import export, style
from pages.ui.widgets.export import Desk, Task
from pages.ui.widgets.source import source

if TYPE_CHECKING:
    from pandas import DataFrame

_CONFIG = {"displayModeBar": False, "displaylogo": False, "showSendToCloud": False}
# Streamlit parses a chart's values anew right after it has drawn them, and sets what a click needs;
# Plotly would take every array, and values that it doesn't look into, for others and draw again.
_SAME_ARRAYS = {"datarevision": 1}
_CLICKED = {"clickmode": "event+select", "dragmode": "pan"}
_SAID = "captions_said"
_component = export.component("export", source("widgets/export.html"))


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
        draw: makes the figure in a `theme`, and on a `paper` where it is exported.
        data: what the CSV holds.
        depends: all that the figure depends on, beside the theme; while it stays, so does the
            figure, which costs tens of milliseconds to build.
        of: the arguments that `draw` and `data` have in common.
        on_click: gets the `customdata` of a clicked mark.
    """
    draw, data = partial(draw, *of), partial(data, *of)
    figure = _drawn(name, draw, depends, clicked=on_click is not None)
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


def _drawn(
    name: str,
    draw: Callable[..., go.Figure],
    depends: tuple[Hashable, ...],
    *,
    clicked: bool,
) -> go.Figure:
    """The figure without its caption where the page says that; each is built when it is needed."""
    kept = st.session_state.setdefault("drawn", {})
    key = (style.theme().name, *depends)
    if name not in kept or kept[name][0] != key:
        kept[name] = (key, {False: _built(draw, caption=False, clicked=clicked)})
    figures: dict[bool, go.Figure] = kept[name][1]
    bare = figures[False]
    if bare.layout.meta["caption"] in st.session_state.get(_SAID, ()):
        return bare
    if True not in figures:
        figures[True] = _built(draw, caption=True, clicked=clicked)
    return figures[True]


def _built(draw: Callable[..., go.Figure], *, caption: bool, clicked: bool = False) -> go.Figure:
    paper = signature(draw).parameters["paper"].default
    figure = draw(theme=style.theme(), paper=replace(paper, caption=caption))
    plain = plain_values(figure)
    plain["layout"].pop("template", None)
    words = plain["layout"].pop("meta")
    plain["layout"] |= _SAME_ARRAYS | (_CLICKED if clicked else {}) | {"words": words}
    # Streamlit asks for the plain values at every run, and Plotly would copy all of them each time.
    figure.to_dict = lambda: plain  # type: ignore[method-assign]
    return figure


def said(*captions: str) -> None:
    """Leave these captions out of the page's figures, which the page says once for all of them.

    An exported figure has its own.
    """
    st.session_state[_SAID] = captions


def said_before(caption: str) -> None:
    """Leave out the caption of what is measured anew just now: its mark says that it is older."""
    st.session_state[_SAID] = (*st.session_state.get(_SAID, ()), caption)


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
    if popover.open:
        with popover:
            part = Part(name, draw, data)
            fragments.mount(_leave)(figure, part, _stem(name, figure))


def _stem(name: str, figure: go.Figure) -> str:
    """The name of a figure's files: its page, what it shows, its step or round, method, seed."""
    page = registry.page_at(st.session_state.get("page_before", ""))
    trace = getattr(page.view(), "trace", None)
    said = f"{page.path or 'decode'}-{name.removeprefix(f'{page.path}-')}"
    return stem(said, trace.config if trace else None, str(figure.layout.title.text))


def _leave(figure: go.Figure, part: Part, files: str) -> None:
    """The buttons of a figure's files; a fragment, so that a press draws no page."""
    desk, key = Desk.of(part.name), f"export-bar-{part.name}"

    def asked() -> None:
        desk.attempt(lambda: _ask(desk, part, files, str(st.session_state[key].asked)))

    _component(
        key=key,
        data={
            **desk.data(),
            "caption": figure.layout.meta["caption"],
            "alt": figure.layout.meta["alt"],
        },
        on_asked_change=asked,
        on_drawn_change=lambda: desk.take(st.session_state[key].drawn),
    )


def _ask(desk: Desk, part: Part, files: str, form: str) -> None:
    """Begin what a button asks for.

    Args:
        files: their name without the ending.
    """
    from core.export.part import drawing, encoded, table_file

    if form == "csv":
        desk.hand_over(f"{files}.csv", table_file(part))
        return
    paper = figure_choices.paper()
    if form == "html":
        _hand_over_page(desk, part, files, paper)
        return

    def take(figure: go.Figure, raw: str) -> None:
        drawn = drawing(raw, figure, files, paper)
        desk.hand_over(f"{files}.{form}", encoded(drawn, form))
        if drawn.fonts.missing:
            desk.said = f"No font of this server has: {drawn.fonts.missing}"

    desk.task = Task(part.figure(figure_choices.theme(), paper), take)


def _hand_over_page(desk: Desk, part: Part, files: str, paper: Paper) -> None:
    """The figure as a page of its own; with Plotly's script beside it, where that is chosen."""
    from core.export.archive import zipped
    from core.export.web import bundle
    from core.export.web.page import page_of

    shared = figure_choices.shared()
    page = page_of(part.drawn(), figure_choices.page_theme(), paper, shared=shared)
    if shared:
        both = {f"{files}.html": page, bundle.NAME: bundle.script()}
        desk.hand_over(f"{files}-html.zip", zipped(both))
    else:
        desk.hand_over(f"{files}.html", page)
