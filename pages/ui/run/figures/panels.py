"""Export of several figures of a page as panels of one, drawn by the browser in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from core.decoding.errors import FigureError
from core.export.part import Part
from core.figures.base.paper import Paper
from core.language import tr
from pages.ui import platform
from pages.ui.run.figures import export
from pages.ui.run.figures.export import DrawTask, ExportState
from pages.ui.widgets.controls import figure_choices

if TYPE_CHECKING:
    from core.export.panels import Panels

KEY, CHOSEN = "panels-bar", "panels_chosen"
_component = export.exporter(
    "panels",
    html='<div class="export"><div class="row">'
    + "".join(
        f'<button type="button" data-act="{form}">{form.upper()}</button>'
        for form in ("svg", "pdf", "png")
    )
    + '</div><dl><div><dt>Caption <button type="button" class="quiet" data-act="caption">Copy'
    '</button></dt><dd class="caption"></dd></div></dl><p role="status"></p></div>',
)


@dataclass
class _Drawing:
    """A figure of panels that the browser is drawing.

    Args:
        name: name of the file, without its extension.
        raws: Plotly's SVG of each figure drawn so far.
    """

    name: str
    form: str
    panels: Panels
    figures: Sequence[go.Figure]
    raws: list[str] = field(default_factory=list)


def choice(name: str, parts: Callable[[Paper], Sequence[Part]]) -> None:
    """Draw the menu of figures, and the buttons of the file once two are chosen.

    Args:
        name: name of the file, without its extension.
        parts: the page's figures for a paper.
    """
    from core.export.panels import Panels

    try:
        all_parts = parts(Panels.of(figure_choices.paper(), 2).panel)
    except FigureError as error:
        st.caption(error.shown)
        return
    by_name = {part.name: part for part in all_parts if part.draw is not None}
    # With another width the parts of a long run are others.
    before = st.session_state.get(platform.key(CHOSEN), [])
    st.session_state[platform.key(CHOSEN)] = [key for key in before if key in by_name]
    chosen = st.multiselect(
        tr("Panels of one figure"),
        list(by_name),
        key=platform.key(CHOSEN),
        placeholder=tr("Choose two or more"),
        help=tr("The order of choice gives the letters (a), (b) and so on."),
    )
    if len(chosen) > 1:
        _files(name, [by_name[key] for key in chosen])


def _files(name: str, parts: Sequence[Part]) -> None:
    from core.export.panels import Panels

    state = ExportState.of("panels")
    try:
        panels = Panels.of(figure_choices.paper(), len(parts))
    except FigureError as error:
        st.caption(error.shown)
        return
    figures = [part.figure(figure_choices.theme(), panels.panel) for part in parts]

    def begin() -> None:
        form = str(st.session_state[platform.key(KEY)].asked)
        _next(state, _Drawing(f"{name}-panels", form, panels, figures))

    _component(
        key=platform.key(KEY),
        data={
            **state.data(),
            "caption": panels.words([figure.layout.meta for figure in figures])["caption"],
        },
        on_asked_change=lambda: state.attempt(begin),
        on_drawn_change=lambda: state.take(st.session_state[platform.key(KEY)].drawn),
    )


def _next(state: ExportState, drawing: _Drawing) -> None:
    """Request the next panel from the browser, or save the figure after the last one."""
    from core.export.part import encoded

    at, count = len(drawing.raws), len(drawing.figures)
    if at == count:
        done = drawing.panels.drawing(drawing.raws, drawing.figures, drawing.name)
        state.hand_over(f"{drawing.name}.{drawing.form}", encoded(done, drawing.form))
        return
    state.message = tr("Panel {number} of {total}", number=at + 1, total=count)

    def take(_: go.Figure, raw: str) -> None:
        drawing.raws.append(raw)
        _next(state, drawing)

    state.task = DrawTask(drawing.figures[at], take)
