"""One figure on a page: the chart as its own theme draws it, and its export."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from core.export.part import Part, stem
from core.figures.base.paper import Paper
from core.figures.base.theme import Theme
from pages.ui import registry
from pages.ui.shell import figure_choices, fragments
from pages.ui.widgets import chart as charts
from pages.ui.widgets import export, style
from pages.ui.widgets.ahead import Offer
from pages.ui.widgets.chart import Drawing
from pages.ui.widgets.export import Desk, Task
from pages.ui.widgets.source import source

if TYPE_CHECKING:
    from pandas import DataFrame

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
    ahead: Offer | None = None,
    at: int = 0,
    across: bool = False,
) -> Drawing:
    """Draw a figure and its export; returns what was drawn.

    Args:
        name: key of the chart and stem of the files.
        draw: makes the figure in a `theme`, and on a `paper` where it is exported.
        data: what the CSV holds.
        depends: all that the figure depends on, beside the theme; while it stays, so does the
            figure, which costs tens of milliseconds to build.
        of: the arguments that `draw` and `data` have in common.
        on_click: gets the `customdata` of a clicked mark.
        ahead: what the browser may show of other steps before the page has answered.
        at: the step that is shown.
        across: it takes the page's width, so that its lines of text may be as long.
    """
    paper = page_paper(draw, across=across)
    draw, data = partial(draw, *of), partial(data, *of)
    shown = _drawn(name, draw, paper, depends, ahead.kept(at).get(name) if ahead else None)
    where = {"address": ahead.address, "strip": ahead.strip, "at": at} if ahead else None
    with st.container(key=f"figure-{name}", gap=None):
        charts.draw(name, shown, on_click, where)
        _export(name, shown, draw, data)
    return shown


@dataclass(eq=False)
class _Drawn:
    """What a chart shows, with and without its caption; each is built when it is needed."""

    key: tuple[Hashable, ...]
    bare: Drawing
    captioned: Drawing | None = None
    last: Drawing | None = None


def _drawn(
    name: str,
    draw: Callable[..., go.Figure],
    paper: Paper,
    depends: tuple[Hashable, ...],
    made: Drawing | None = None,
) -> Drawing:
    """The figure without its caption where the page says that.

    Args:
        made: that one, where the browser has asked for it already.
    """
    kept: dict[str, _Drawn] = st.session_state.setdefault("drawn", {})
    look = style.theme()
    key = (look.name, paper.width, *depends)
    if name not in kept or kept[name].key != key:
        kept[name] = _Drawn(key, made.again() if made else built(draw, look, paper))
    found = kept[name]
    if found.bare.words["caption"] in st.session_state.get(_SAID, ()):
        shown = found.bare
    else:
        shown = found.captioned = found.captioned or built(draw, look, paper, caption=True)
    if found.last is not None and found.last.text is not shown.text:
        shown = shown.again()
    elif found.last is not None:
        shown = found.last
    found.last = shown
    return shown


def page_paper(draw: Callable[..., go.Figure], *, across: bool = False) -> Paper:
    """What the page has for a figure: what it asks for, and no more than the window holds."""
    own: Paper = signature(draw).parameters["paper"].default
    width = style.across_width() if across else min(own.width, style.figure_width())
    return replace(own, width=width)


def built(
    draw: Callable[..., go.Figure], theme: Theme, paper: Paper, *, caption: bool = False
) -> Drawing:
    """A figure as a page shows it."""
    return charts.drawing(draw(theme=theme, paper=replace(paper, caption=caption)))


def said(*captions: str) -> None:
    """Leave these captions out of the page's figures, which the page says once for all of them.

    An exported figure has its own.
    """
    st.session_state[_SAID] = captions


def said_before(caption: str) -> None:
    """Leave out the caption of what is measured anew just now: its mark says that it is older."""
    st.session_state[_SAID] = (*st.session_state.get(_SAID, ()), caption)


def _export(
    name: str,
    shown: Drawing,
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
            fragments.mount(_leave)(shown, part, _stem(name, shown))


def _stem(name: str, shown: Drawing) -> str:
    """The name of a figure's files: its page, what it shows, its step or round, method, seed."""
    page = registry.page_at(st.session_state.get("page_before", ""))
    trace = getattr(page.view(), "trace", None)
    said = f"{page.path or 'decode'}-{name.removeprefix(f'{page.path}-')}"
    return stem(said, trace.config if trace else None, str(shown.words["title"]))


def _leave(shown: Drawing, part: Part, files: str) -> None:
    """The buttons of a figure's files; a fragment, so that a press draws no page."""
    desk, key = Desk.of(part.name), f"export-bar-{part.name}"

    def asked() -> None:
        desk.attempt(lambda: _ask(desk, part, files, str(st.session_state[key].asked)))

    _component(
        key=key,
        data={
            **desk.data(),
            "caption": shown.words["caption"],
            "alt": shown.words["alt"],
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
