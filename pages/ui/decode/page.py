"""What a run shows: the text first, then the figures."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.trace import Trace
from pages.ui.decode import controls
from pages.ui.decode.state import DecodeView
from pages.ui.decode.tabs import draw_figures
from pages.ui.run import panel
from pages.ui.run.jobs import Job
from pages.ui.widgets import style, token_strip
from pages.ui.widgets.control import value


def draw(view: DecodeView) -> None:
    """The text and the figures; while a run goes on, the text streams and the figures wait."""
    panel.failure(view.failure)
    painted = view.painted
    panel.draw(
        view, "the model continues the prompt.", partial(_live, view), partial(_finished, view)
    )
    if view.trace is not None and view.steps:
        with st.container(key="figures"):
            # On the first paint the text goes ahead of the charts, whose script keeps a browser
            # busy for seconds; the strip asks for the second run as soon as it is drawn.
            if painted:
                draw_figures(view, view.trace)
    view.painted = True
    panel.watch(view)


def _live(view: DecodeView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, f"{job.tokens} tokens")
        if trace is not None:
            _strip(view, trace, live=True)


def _finished(view: DecodeView, trace: Trace) -> None:
    tokens = panel.counted(len(trace.token_ids), "token")
    with panel.box():
        panel.head(view, trace, tokens, panel.ENDED[trace.finish_reason])
        _strip(view, trace, live=False)


def _strip(view: DecodeView, trace: Trace, *, live: bool) -> None:
    by = str(value("color"))
    token_strip.draw(view, trace, style.theme(), by=by, live=live)
    with st.container(key="strip-foot", horizontal=True, vertical_alignment="center", gap="small"):
        controls.color()
        token_strip.draw_legend(by, style.theme())
