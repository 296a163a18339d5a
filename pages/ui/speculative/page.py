"""The speculative page as it is drawn: the text beside the timeline, and what else there is.

The text, the timeline, the selected token and the tabs of a finished run are fragments: a gesture
draws anew what it changes.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted
from core.decoding.record.trace import Trace
from core.decoding.speculative.measurement.metrics import counts
from core.figures.speculative.drafts.benefit import little_benefit_words
from core.figures.speculative.words import emitted
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.run import changed
from pages.ui.run.display import panel
from pages.ui.run.figures import origins
from pages.ui.run.jobs import Job
from pages.ui.speculative import controls, state, tabs
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import style


def draw(view: SpecView) -> None:
    """Everything below the controls."""
    panel.read_controls(view, controls.request)
    with st.container(key=platform.key("spec-pair")):
        with st.container(key=platform.key("spec-side")):
            panel.draw(
                view,
                N_("the draft proposes tokens, and the target verifies them."),
                partial(_live, view),
                partial(_finished, view),
            )
        if view.trace is not None:
            platform.part(tabs.timeline, key=tabs.TIMELINE)(view, view.trace)
    if view.trace is None or not tabs.draw(view, view.trace):
        panel.watch(view)


def _live(view: SpecView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        rounds = len(trace.rounds) if trace else 0
        panel.running(job, f"{tr(counted(rounds, 'round'))} · {tr(counted(job.tokens, 'token'))}")
        if trace is not None and rounds:
            _strip(view, trace, live=True)


def _finished(view: SpecView, trace: Trace) -> None:
    with panel.box():
        panel.head(view, trace, *_summary(trace), draft=controls.draft())
        platform.part(_strip, key=tabs.STRIP)(view, trace, live=False)
        with st.container(
            key=platform.key("strip-foot"),
            horizontal=True,
            vertical_alignment="center",
            gap="small",
        ):
            origins.draw_key(style.theme())
            panel.note(
                changed.note(view, registry.page_of("speculative")),
                N_("Click a token to see its verification."),
            )
        if words := little_benefit_words(trace, view.comparison):
            with st.container(key=platform.key("spec-benefit")):
                st.text(words, width="stretch")


def _summary(trace: Trace) -> tuple[str, ...]:
    totals = counts(trace.rounds)
    tokens, rounds = counted(totals.emitted, "token"), counted(totals.rounds, "round")
    return (
        tr("{tokens} in {rounds}", tokens=tokens, rounds=rounds),
        tr(
            "{accepted} of {drafted} drafted accepted",
            accepted=totals.accepted,
            drafted=totals.drafted,
        )
        if totals.drafted
        else tr("nothing was drafted"),
        tr(panel.ENDED[trace.finish_reason]),
    )


def _strip(view: SpecView, trace: Trace, *, live: bool) -> None:
    tokens = emitted(trace)
    origins.draw(
        state.STRIP,
        view,
        trace,
        style.theme(),
        live=live,
        tokens=tokens,
        selected=state.place_in_text(tokens, view.token),
        on_selected=_on_selected,
    )


def _on_selected() -> None:
    at = (st.session_state.get(platform.key(state.STRIP)) or {}).get("selected")
    view = SpecView.current()
    if isinstance(at, int) and view.trace is not None:
        tokens = emitted(view.trace)
        if 0 <= at < len(tokens):
            view.look_at(tokens[at].round, tokens[at].place)
            platform.rerun(tabs.TOKEN, tabs.TIMELINE)
