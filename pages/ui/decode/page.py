"""Draw a run: first its text, then the selected step, then the figures of the run.

The text, the step and the rest are fragments: a gesture reruns those that it changes. The rest is
out of sight, and follows when the gestures pause.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted
from core.decoding.record.trace import Trace
from core.figures.opening import contested_step
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.decode import controls, state, tabs
from pages.ui.decode.methods import contrastive_decoding, repeats
from pages.ui.decode.state import DecodeView
from pages.ui.run import address, changed
from pages.ui.run.display import bar, later, panel
from pages.ui.run.figures import token_strip
from pages.ui.run.jobs import Job
from pages.ui.shell import frame
from pages.ui.widgets import style
from pages.ui.widgets.controls.control import value

TEXT, STEP, REST, WATCH = "decode-text", "decode-step", "decode-rest", "decode-watch"
NOTE = "decode-note"


def show() -> None:
    """The run of the current slot: its controls, then what it shows."""
    view = DecodeView.current()
    view.collect_results()
    with frame.controls_column():
        with frame.controls_row():
            controls.method()
            bar.draw(view, controls.request)
        controls.knobs(then=redraw_knobs)
    bar.restore(view, controls.RUN_CONTROLS)
    with frame.figures_column():
        draw(view)


def draw(view: DecodeView) -> None:
    """The text and the figures; while a run goes on, the text streams and the figures wait."""
    panel.failure(view.failure)
    panel.draw(
        view, N_("the model continues the prompt."), partial(_live, view), partial(_finished, view)
    )
    there = view.trace is not None and bool(view.steps)
    if there:
        with st.container(key=platform.key("figures")):
            platform.part(_step, key=STEP)(view)
            # On the first paint the step goes ahead of the other figures.
            with st.container(key=platform.key("rest")):
                platform.part(_rest, key=REST)(view)
        if not view.painted:
            later.ask(partial(_painted, view))
    platform.part(panel.watch, key=WATCH)(view)
    if there and "decode" not in view.jobs:
        platform.mark_ready()
    view.painted = True


def redraw_step() -> None:
    """End a callback that selects another step."""
    platform.rerun(STEP, WATCH)


def _redraw_marked() -> None:
    """End a callback that selects another step of a run whose text marks that step's repeat."""
    platform.rerun(TEXT, STEP, WATCH)


def redraw_knobs() -> None:
    """End a callback of a knob: how the step is shaped, and what a link says of the controls."""
    platform.rerun(STEP, NOTE, panel.SAVE, WATCH)


def _redraw_all() -> None:
    platform.rerun(TEXT, STEP, REST, WATCH)


def _painted(view: DecodeView) -> None:
    view.painted = True
    platform.rerun(STEP, REST)


def _live(view: DecodeView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, tr(counted(job.tokens, "token")))
        if trace is not None:
            _strip(view, trace, live=True)


def _finished(view: DecodeView, trace: Trace) -> None:
    tokens = tr(counted(len(trace.token_ids), "token"))
    with panel.box():
        ended = tr(panel.ENDED[trace.finish_reason])
        panel.head(view, trace, tokens, ended, draft=contrastive_decoding.draft())
        platform.part(_strip, key=TEXT)(view, trace, live=False)


def _strip(view: DecodeView, trace: Trace, *, live: bool) -> None:
    by = str(value("color"))
    step = None if live else view.step
    token_strip.draw(
        view,
        trace,
        style.theme(),
        by=by,
        live=live,
        marked=state.uncertain_steps(trace),
        repeated=repeats.steps(trace, step) if step else (),
        repeated_in_prompt=repeats.prompt_span(trace, step) if step else None,
        then=_redraw_marked if trace.config.shaping.dry_multiplier else redraw_step,
        rested=partial(platform.rerun, REST),
    )
    with st.container(
        key=platform.key("strip-foot"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        controls.color()
        if live:
            token_strip.draw_legend(by, style.theme())
        else:
            platform.part(_legend, key=NOTE)(view, by)


def _legend(view: DecodeView, by: str) -> None:
    """Draw the legend of the colours, or a note while the controls ask for another run."""
    page = registry.DECODE
    if note := changed.note(view, page):
        panel.note(note, "", key="run-note")
    else:
        token_strip.draw_legend(by, style.theme())
    changed.write_address(view, page)
    state.write_given(view)
    address.keep()


def _step(view: DecodeView) -> None:
    view.requested.clear()
    if view.trace is None or view.step is None:
        return
    tabs.draw_step(view, view.trace, view.step)
    state.write_step(view, contested_step(view.trace))
    address.keep()


def _rest(view: DecodeView) -> None:
    if view.trace is not None and view.painted:
        tabs.draw_rest(view, view.trace, _redraw_all)
