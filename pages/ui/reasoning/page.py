"""The reasoning page as it is drawn: one run and where it knew, beside what budgets buy."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from core import figures
from core.decoding.reasoning.config import Reasoning
from core.decoding.trace import Trace
from core.evaluation.sweep.types import BudgetSweep
from core.evaluation.types import Problem
from core.figures.base.labels import settings_caption, visible_token
from pages.ui.decode import controls
from pages.ui.decode import page as results
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import loop, state, text, tools, verdict, vote, work
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import sweep as reason_many
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import bar, jobs, proof
from pages.ui.run import save as share
from pages.ui.shell import models
from pages.ui.widgets import figure
from pages.ui.widgets.knob import set_knob

# A chart drawn anew is a new chart in the browser.
LIVE_SECONDS = 1.5
CHANGED = "The controls ask for another run: press Run."
NOTHING = "**Nothing to show yet.**  \nPress Run: the model thinks, then answers."


class Look(NamedTuple):
    """A tab: what draws it, and what starts its work for a link that has the flag."""

    draw: Callable[[ReasonView], None]
    flag: str = ""
    start: Callable[[ReasonView], None] | None = None


_LOOKS = {
    "Many problems": Look(reason_many.draw, "sweep", reason_many.start),
    "Same bound, other ways": Look(vote.draw, "rivals", vote.start),
    "What a level is": Look(loop.draw),
    "A calculator": Look(tools.draw, "tools", tools.start),
}
_NOTICE = """
**What to notice**

- Each bar of "Where did it know?" is the same thinking, stopped earlier. Most of the way the
  model has no answer: it writes one all the same.
- The curve rises as more problems get enough room. Past the point where all thinking ends by
  itself, a larger budget buys nothing.
- Nothing in the model changes with the level. The loop only runs longer.
"""


def draw(view: ReasonView) -> None:
    """Everything below the controls."""
    found = results.wanted(view, lambda: (reason_problem.problem(), reason_controls.config()))
    asked, wanted = found or (None, None)
    with st.container(key="reason-first", gap="small"):
        left, right = st.columns(2, gap="small")
        with left:
            _text(view, asked, wanted)
            _knew(view)
        with right:
            _accuracy(view)
            with st.container(key="notice"):
                st.markdown(_NOTICE)
    # On the first paint the text and its figures go ahead of what lies below them.
    if view.painted or view.trace is None:
        _more(view)
    view.painted = True
    results.watch(view)


def _text(view: ReasonView, asked: Problem | None, wanted: Reasoning | None) -> None:
    job = view.jobs.get("decode")
    with st.container():
        if job is not None:
            st.fragment(_live, run_every=jobs.POLL_SECONDS)(view, job)
        else:
            _finished(view, asked, wanted)


def _live(view: ReasonView, job: jobs.Job) -> None:
    job.watch()
    if not job.active:
        st.rerun()
    trace = bar.so_far(view, job)
    with st.container(key="text-panel", border=True, gap="small"):
        with results.head("running"):
            st.text(f"{job.stage} · {job.tokens} tokens · {job.seconds:.1f} s", width="stretch")
        if trace is not None:
            text.draw(trace, live=True)


def _finished(view: ReasonView, asked: Problem | None, wanted: Reasoning | None) -> None:
    trace = view.trace
    with st.container(key="text-panel", border=True, gap="small"):
        if trace is None:
            st.markdown(NOTHING)
            return
        with results.head("finished"):
            st.text(_summary(view, trace), width="stretch")
            proof.badge(view, trace)
            share.menu(view, trace)
        text.draw(trace, first=not view.painted)
        problem = state.problem_of(view)
        found = state.verdict(trace, problem)
        verdict.draw(found, problem)
        other = bool(asked and wanted and state.needs_run(view, asked, wanted))
        with st.container(key="note-changed" if other else "note-plain"):
            read = state.reading(trace)
            next_one = CHANGED if other else verdict.advice(trace, read, found.outcome)
            st.text(f"{_spent(trace)} {next_one}")


def _summary(view: ReasonView, trace: Trace) -> str:
    source = results.SOURCES.get(view.source, "Run")
    if trace.model_id == str(controls.value("model")):
        return source
    return f"{source} · {visible_token(trace.model_id, 60)}"


def _spent(trace: Trace) -> str:
    read, run = state.reading(trace), trace.config
    assert isinstance(run, Reasoning)
    ended = {"length": ", cut off at its bound", "cancelled": ", stopped by you"}
    return (
        f"{read.thinking_tokens} of {run.max_thinking_tokens} thinking tokens, "
        f"{len(trace.token_ids)} in all{ended.get(trace.finish_reason, '')}."
    )


def _knew(view: ReasonView) -> None:
    """The answers at every stop, of the shown run."""
    trace, strip = view.trace, view.strip
    if trace is None:
        return
    if strip is None:
        _ask_where(view, trace)
        return
    with st.container(key="figures"):
        figure.chart(
            "stops",
            lambda theme: figures.reason_stops(strip, caption=settings_caption(trace), theme=theme),
            lambda: figures.reason_stops_data(strip),
            (view.number, view.version("stops")),
        )


def _ask_where(view: ReasonView, trace: Trace) -> None:
    """While nobody knows: start the work for one's own run, offer it for a file's."""
    job, error = view.active("stops"), view.failures.get("stops", "")
    may_load = view.may_load(str(controls.value("model")))
    thinks = state.reading(trace).thinking_tokens > 0
    own = view.source == "run" and "decode" not in view.jobs
    if job is None and own and thinks and not error:
        start_stops(view)
        job = view.active("stops")
    with st.container(key="ask-stops", border=True, gap="small"):
        st.markdown("**Where did it know?**")
        if not thinks:
            st.text("This run did not think, so there is nothing to stop.")
        elif job is not None:
            st.text(f"{job.stage}…")
        else:
            st.button(
                "Stop the thinking at each step",
                key="find_stops",
                icon=":material/pause_circle:",
                disabled=not may_load or "decode" in view.jobs,
                on_click=start_stops,
                args=(view,),
            )
            st.text(error or ("" if may_load else "Choose this run's model in the sidebar first."))


def start_stops(view: ReasonView) -> None:
    """Ask the model what it would answer at every stop."""
    if view.trace is None or "stops" in view.jobs:
        return
    problem = state.problem_of(view) or Problem(view.trace.prompt, view.trace.prompt, "")
    view.failures["stops"] = ""
    view.jobs["stops"] = work.where_it_knew(view.trace, problem)


def _accuracy(view: ReasonView) -> None:
    """The curve; while a sweep goes on, it grows."""
    reason_many.bound()
    if view.active("sweep") is not None:
        st.fragment(_curve, run_every=LIVE_SECONDS)(view)
    else:
        _curve(view)


def _curve(view: ReasonView) -> None:
    sweep = reason_many.shown(view)
    if sweep is None:
        with st.container(key="ask-sweep", border=True):
            st.markdown("**Accuracy against the budget**")
            st.text("No sweep has run yet: start one under Many problems.")
        return
    closing = sweep.plan.budget_field == "max_thinking_tokens"
    marked = int(reason_controls.value("thinking")) if closing else reason_controls.whole_bound()
    figure.chart(
        "accuracy",
        lambda theme: figures.reason_accuracy(sweep, marked=marked, theme=theme),
        lambda: figures.reason_accuracy_data(sweep),
        (reason_many.identity(view, sweep), marked),
        on_click=lambda custom: _take_budget(sweep, custom),
    )


def _take_budget(sweep: BudgetSweep, custom: list[object]) -> None:
    """A click on the curve sets the budget."""
    if not custom or not isinstance(custom[0], int | float):
        return
    if sweep.plan.budget_field == "max_thinking_tokens":
        set_knob(reason_controls.BUDGET, int(custom[0]))
    else:
        st.session_state["whole"] = max(1, int(custom[0]))


def _more(view: ReasonView) -> None:
    with st.container(key="more"):
        tabs = st.tabs(list(_LOOKS), key="reason_look", on_change="rerun", bind="query-params")
        for tab, look in zip(tabs, _LOOKS.values(), strict=True):
            if tab.open:
                with tab:
                    look.draw(view)
                _restore(view, look)


def _restore(view: ReasonView, look: Look) -> None:
    """Do again what a copied link tells of; only built-in models load by a link alone.

    What the look is asked for is known once it is drawn.
    """
    first, view.looked = not view.looked, True
    asked = look.start is not None and st.query_params.get(look.flag) == "1"
    if first and asked and look.start and models.is_embedded(str(controls.value("model"))):
        look.start(view)
        st.rerun()
