"""The page Read as it is drawn: the text with its surprisals, the favourites, and tabs.

The text, the favourites and the tabs are fragments: a chosen token redraws those that show it.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted
from core.decoding.reading.types import text_tokens, totals_of
from core.decoding.record.trace import Trace
from core.figures.base.grid import wide_columns
from core.figures.base.labels import settings_caption
from core.figures.base.paper import Paper
from core.figures.read.words import number, reading_caption
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.decode.state import write_step
from pages.ui.read import parts, save, tabs
from pages.ui.read.state import ReadView, most_surprising
from pages.ui.run import address, changed
from pages.ui.run.display import later, panel
from pages.ui.run.figures import figure, pager, token_strip
from pages.ui.run.jobs import Job
from pages.ui.widgets import style
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

TEXT, FAVOURITES, REST = "read-text", "read-favourites", "read-rest"


def draw(view: ReadView) -> None:
    """The text that was read, and its figures."""
    panel.failure(view.failure)
    panel.draw(
        view,
        N_("the model reads the text and writes nothing."),
        partial(_live, view),
        partial(_finished, view),
    )
    if view.trace is not None and view.steps and "decode" not in view.jobs:
        figure.omit_captions(reading_caption(view.trace), settings_caption(view.trace))
        with st.container(key=platform.key("figures")):
            platform.part(_favourites, key=FAVOURITES)(view)
            if not later.waits(view):
                platform.part(_rest, key=REST)(view)
        platform.mark_ready()
    panel.watch(view)


def _live(view: ReadView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, counted(job.tokens, "token"))
        if trace is not None and trace.token_steps:
            _strip(view, trace, live=True)


def _finished(view: ReadView, trace: Trace) -> None:
    totals = totals_of(text_tokens(trace))
    expected = tr(
        "{expected} of {tokens} as expected",
        expected=totals.first,
        tokens=counted(totals.tokens, "token"),
    )
    if totals.parts:
        expected = tr(
            "{expected}; {parts} of the {tokens} are parts of a character",
            expected=expected,
            parts=totals.parts,
            tokens=totals.tokens,
        )
    with panel.box():
        panel.head(
            view,
            trace,
            tr("perplexity {number}", number=number(totals.perplexity)),
            tr("{number} bits per byte", number=number(totals.bits_per_byte)),
            expected,
            page=registry.READ,
            saves=partial(save.menu, view, trace),
        )
        platform.part(_strip, key=TEXT)(view, trace, live=False)


def _strip(view: ReadView, trace: Trace, *, live: bool) -> None:
    by, theme = str(value("read_color")), style.theme()
    token_strip.draw(
        view,
        trace,
        theme,
        by=by,
        live=live,
        forced=False,
        then=partial(platform.rerun, FAVOURITES),
        rested=partial(platform.rerun, REST),
    )
    with st.container(
        key=platform.key("strip-foot"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        control.draw("read_color")
        if not live and (said := changed.note(view, registry.READ)):
            panel.note(said, "", key="run-note")
        else:
            token_strip.draw_legend(by, theme)


def _favourites(view: ReadView) -> None:
    trace = view.trace
    if trace is None:
        return
    width = min(style.figure_width(), style.BESIDE)
    columns, place = wide_columns(width), view.selected + len(trace.prompt_ids)
    if not view.token_first <= place < view.token_first + columns:
        view.token_first = place // columns * columns
    count = len(trace.prompt_ids) + len(trace.token_ids)
    with st.container(gap="small"):
        pager.draw(view, "token_first", pager.of_span(view.token_first, columns, count), "tokens")
        figure.chart(
            parts.FAVOURITES.part(view, trace, first=view.token_first, paper=Paper(width)),
            (view.number, view.token_first, view.selected, width),
            on_click=partial(_select_place, view),
        )
    write_step(view, most_surprising(trace))
    address.keep()


def _select_place(view: ReadView, custom: list[object]) -> None:
    """Select the token at a place of the text; the first tokens have no step of their own."""
    if view.trace is not None and custom and isinstance(custom[0], int | float):
        step = int(custom[0]) - len(view.trace.prompt_ids)
        if step >= 0:
            view.select(step)
            redraw()


def redraw() -> None:
    """End a callback that selects another token."""
    platform.rerun(TEXT, FAVOURITES, REST)


def _rest(view: ReadView) -> None:
    if view.trace is not None:
        tabs.draw(view, view.trace, redraw)
