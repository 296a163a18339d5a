"""Archive of all figures of a page, which the browser draws one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlencode, urlsplit, urlunsplit

import plotly.graph_objects as go
import streamlit as st

from core.export.part import Part
from core.export.subject import Subject
from core.figures.base.paper import Paper
from core.language import tr
from pages.ui import platform
from pages.ui.run.figures import export, panels
from pages.ui.run.figures.export import DrawTask, ExportState
from pages.ui.run.files.link_run import RunLink
from pages.ui.widgets.controls import figure_choices

if TYPE_CHECKING:
    import pandas as pd

    from core.export.archive import Archive

Tables: TypeAlias = "Sequence[tuple[str, pd.DataFrame]]"
KEY = "archive-bar"
_component = export.exporter(
    "archive",
    html='<div class="export"><div class="row"><button type="button" data-act="zip">'
    'All figures (ZIP)</button></div><p class="choices"></p><p role="status"></p></div>',
)


@dataclass(frozen=True)
class ArchiveSource:
    """Contents of a page's archive.

    Args:
        name: name of the file, without its extension.
        page: prefix of the figures' names, which makes them unique among pages.
        subject: the shown run, as its page ranks or shapes it.
        parts: the figures for a paper, in reading order.
        tables: the tables, with their captions.
        link: link to the run; None if the address is the link.
    """

    name: str
    page: str
    subject: Callable[[], Subject]
    parts: Callable[[Paper], Sequence[Part]]
    tables: Callable[[], Tables] = tuple
    link: RunLink | None = None


def button(source: ArchiveSource) -> None:
    """Draw the button of the archive, its progress, and the menu of figures for panels.

    Each finished figure reruns the fragment.
    """
    state = ExportState.of("archive")
    _component(
        key=platform.key(KEY),
        data=state.data(),
        on_asked_change=lambda: state.attempt(lambda: _begin(state, source)),
        on_drawn_change=lambda: state.take(st.session_state[platform.key(KEY)].drawn),
    )
    panels.choice(source.name, source.parts)


def _begin(state: ExportState, source: ArchiveSource) -> None:

    from core.export.archive import Archive

    paper = figure_choices.paper()
    archive = Archive(source.subject(), paper, _address(source.link), source.tables(), source.page)
    parts = list(source.parts(paper))
    for part in parts:
        if part.draw is None:
            archive.lack(part)
    _next(state, source, archive, [part for part in parts if part.draw is not None], 0)


def _next(
    state: ExportState, source: ArchiveSource, archive: Archive, parts: list[Part], at: int
) -> None:
    """Request the next figure from the browser, or save the archive after the last one."""
    if at == len(parts):
        state.hand_over(f"{source.name}-figures.zip", archive.encode())
        return
    state.message = tr(
        "Figure {number} of {total}: {name}", number=at + 1, total=len(parts), name=parts[at].name
    )
    figure = parts[at].figure(figure_choices.theme(), archive.paper)
    state.task = DrawTask(figure, partial(_take, state, source, archive, parts, at))


def _take(
    state: ExportState,
    source: ArchiveSource,
    archive: Archive,
    parts: list[Part],
    at: int,
    figure: go.Figure,
    raw: str,
) -> None:
    archive.add(parts[at], figure, raw)
    _next(state, source, archive, parts, at + 1)


def _address(link: RunLink | None) -> str:
    """Return the address of the run with all of its settings, or the page's address as it is.

    It is empty if a link can't carry a setting: the archive would cite another run.
    """
    if link is not None and link.lost:
        return ""
    here = urlsplit(st.context.url or "")
    query = dict(st.query_params.items())
    if link is not None:
        query = {platform.key("run"): "1", **link.whole}
    return urlunsplit(here._replace(query=urlencode(query), fragment=""))
