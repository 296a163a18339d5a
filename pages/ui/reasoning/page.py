"""The reasoning page as it is drawn: one run and where it knew, beside what budgets buy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from core import figures
from core.decoding.counting import counted, sentences
from core.decoding.errors import DecodingError
from core.decoding.reasoning.config import Reasoning
from core.decoding.record.trace import Trace
from core.evaluation.sweep.types import BudgetSweep
from core.evaluation.types import Problem
from core.export.part import of_figure
from core.figures.base.labels import settings_caption
from core.figures.reasoning.words import sweep_caption
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import loop, state, text, verdict, work
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning.measured import best_of, tools, vote
from pages.ui.reasoning.measured import sweep as reason_many
from pages.ui.reasoning.parts import CONSTRAINT, STOPS
from pages.ui.reasoning.state import ReasonView
from pages.ui.resources import models
from pages.ui.run import changed, cost, jobs
from pages.ui.run.display import bar, later, panel
from pages.ui.run.figures import constraint, figure
from pages.ui.run.jobs import Job
from pages.ui.shell import glossary
from pages.ui.widgets import closed
from pages.ui.widgets.controls import control, rail
from pages.ui.widgets.controls.control import value

LIVE_SECONDS = 1.5
ACCURACY, NOTE, LOOKS = "reason-accuracy", "reason-note", "reason-looks"


class Look(NamedTuple):
    """A tab: its title, what draws it, and what starts its work for a link that has the flag.

    Args:
        flag: in the address; the name of its job too.
        tokens: the most that the work computes.
        button: says what else starts it.
    """

    title: str
    draw: Callable[[ReasonView], None]
    flag: str = ""
    start: Callable[[ReasonView], None] | None = None
    tokens: Callable[[ReasonView], int] = lambda _: 0
    button: str = ""


_TABS = {
    "sweep": Look(
        N_("Budget sweep"),
        reason_many.draw,
        "sweep",
        reason_many.start,
        reason_many.tokens,
        N_("Run sweep"),
    ),
    "rivals": Look(N_("Strategies"), vote.draw, "rivals", vote.start, vote.tokens, N_("Compare")),
    "best": Look(
        N_("Best of N"),
        best_of.draw,
        "best",
        best_of.start,
        best_of.tokens,
        N_("Draw samples"),
    ),
    "level": Look(N_("Reasoning levels"), loop.draw),
    "tools": Look(
        N_("Calculator"),
        tools.draw,
        "tools",
        tools.start,
        tools.tokens,
        N_("Run with and without calculator"),
    ),
}
_READY = ("level", "tools")
_NOTICE = N_(
    "## What to notice\n\n"
    "- “Answers at each stop” ends the same thinking after each of its steps. Before the last step "
    "the model doesn't know the answer, and yet it writes one.\n"
    "- The curve rises while more problems get room for all of their steps. Where all thinking "
    "ends by itself, a larger budget changes nothing.\n"
    "- The level changes nothing in the model: the decoding loop only runs longer."
)


def draw(view: ReasonView) -> None:
    """Everything below the controls."""
    request = None
    if reason_problem.awaits_question():
        panel.failure(view.failure)
    else:
        request = panel.read_controls(view, _asked)
    figure.omit_captions(*_captions(view))
    with st.container(key=platform.key("reason-first"), gap="small"):
        left, right = st.columns(2, gap="small")
        with left:
            panel.draw(
                view,
                N_("the model thinks, then answers."),
                partial(_live, view),
                partial(_finished, view),
            )
            _knew(view)
        waits = view.trace is not None and view.strip is not None and later.waits(view)
        with right:
            platform.part(_accuracy, key=ACCURACY)(view, waits=waits)
            with st.container(key=platform.key("notice")):
                st.markdown(glossary.marked(tr(_NOTICE)))
                panel.made_by(*_captions(view))
    if waits:
        panel.watch(view)
        return
    platform.part(_looks, key=LOOKS)(view)
    if request is not None and view.trace is not None and "decode" not in view.jobs:
        platform.mark_ready()


def redraw() -> None:
    """End a callback that changes the budget: a run is asked for, and a place on the curve."""
    try:
        _asked()
    except DecodingError:
        st.rerun()
    platform.rerun(reason_controls.BUDGET_ROW, NOTE, ACCURACY)


def run_again() -> None:
    """End a callback that has chosen a budget: run with it, where that takes no more than a
    link's run may."""
    view = ReasonView.current()
    try:
        _, config = _asked()
    except DecodingError:
        st.rerun()
    page, model = registry.page_of("reasoning"), str(value("model"))
    costs = cost.awaited(cost.tokens_of(config), N_("Run"))
    if costs or not models.is_at_hand(model) or not changed.note(view, page):
        redraw()
        return
    view.drop("decode")
    bar.start(view, reason_problem.request)
    st.rerun()


def _asked() -> tuple[Problem, Reasoning]:
    """Return the problem and the settings that the controls describe."""
    return reason_problem.problem(), reason_controls.config()


def _looks(view: ReasonView) -> None:
    """The tabs, and the watch over what a press in them starts."""
    drawings = {
        name: panel.Tab(look.title, partial(_tab, view, look)) for name, look in _TABS.items()
    }
    if view.trace is not None:
        drawings |= constraint.tab(view, view.trace, CONSTRAINT, None)
    panel.tabs("reason_look", drawings, ready=_READY)
    panel.watch(view)


def _captions(view: ReasonView) -> list[str]:
    """Return captions of the settings of the run and of the sweep."""
    sweep = reason_many.shown(view)
    of_run = [] if view.trace is None else [settings_caption(view.trace)]
    return of_run if sweep is None else [*of_run, sweep_caption(sweep)]


def _live(view: ReasonView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, tr(counted(job.tokens, "token")))
        if trace is not None:
            text.draw(trace, live=True)


def _finished(view: ReasonView, trace: Trace) -> None:
    with panel.box():
        panel.head(view, trace)
        text.draw(trace)
        problem = state.problem_of(view)
        run_verdict = state.verdict(trace, problem)
        verdict.draw(run_verdict, problem)
        spent = _spent(trace)
        advice = verdict.advice(trace, state.reading(trace), run_verdict.outcome)
        platform.part(_note, key=NOTE)(view, trace, spent, advice)


def _note(view: ReasonView, trace: Trace, spent: str, advice: str) -> None:
    """Draw a note on the spent tokens, and on the controls if they describe another run."""
    changes = changed.note(view, registry.page_of("reasoning"))
    beyond = tr(sentences(spent, _beyond(trace), changes))
    panel.note(beyond if changes else "", tr(sentences(spent, advice)))


def _beyond(trace: Trace) -> str:
    """Return a note if a file's thinking budget exceeds the field's maximum; else empty."""
    run, most = trace.config, int(reason_controls.BUDGET.typed_high)
    assert isinstance(run, Reasoning)
    if run.max_thinking_tokens <= most:
        return ""
    return tr("Its budget is larger than the field's {most:,}.", most=most)


def _spent(trace: Trace) -> str:
    read, run = state.reading(trace), trace.config
    assert isinstance(run, Reasoning)
    ended = {"eos": N_("the model ended its answer")}.get(trace.finish_reason)
    numbers: dict[str, Any] = {
        "thinking": read.thinking_tokens,
        "budget": run.max_thinking_tokens,
        "total": len(trace.token_ids),
        "ended": tr(ended or panel.ENDED[trace.finish_reason]),
    }
    if read.closed_by_budget:
        return tr(
            "{thinking} of {budget} thinking tokens, ended by the budget; {total} tokens in all: "
            "{ended}.",
            **numbers,
        )
    return tr("{thinking} of {budget} thinking tokens; {total} tokens in all: {ended}.", **numbers)


def _knew(view: ReasonView) -> None:
    """The answers at every stop, of the shown run."""
    trace, strip = view.trace, view.strip
    if trace is None:
        return
    if strip is None:
        _ask_where(view, trace)
        return
    with st.container(key=platform.key("figures")):
        figure.chart(STOPS.part(view, trace), (view.number, view.version("stops")))


def _ask_where(view: ReasonView, trace: Trace) -> None:
    """While nobody knows: start the work for one's own run, offer it for a file's."""
    job, error = view.active("stops"), view.failures.get("stops", "")
    may_load = view.may_load(str(value("model")))
    thinks = state.reading(trace).thinking_tokens > 0
    is_own_run = view.source == "run" and "decode" not in view.jobs
    if job is None and is_own_run and thinks and not error:
        start_stops(view)
        job = view.active("stops")
    with st.container(key=platform.key("ask-stops"), border=True, gap="small"):
        st.markdown(tr("**Answers at each stop**"))
        if not thinks:
            st.text(tr("This run did not think, so there is nothing to stop."))
        elif job is not None:
            platform.poll(_under_way, jobs.poll_seconds)(job)
        else:
            st.button(
                tr("Stop the thinking at each step"),
                key=platform.key("find_stops"),
                icon=":material/pause_circle:",
                disabled=not may_load or "decode" in view.jobs,
                on_click=start_stops,
                args=(view,),
            )
            hint = "" if may_load else tr("Choose this run's model in the sidebar first.")
            st.text(tr(error) or hint)


def _under_way(job: Job) -> None:
    job.watch()
    st.text(f"{tr(job.stage)}…")


def start_stops(view: ReasonView) -> None:
    """Ask the model what it would answer at every stop."""
    if view.trace is None or "stops" in view.jobs:
        return
    problem = state.problem_of(view) or Problem(view.trace.prompt, view.trace.prompt, "")
    view.begin("stops", work.where_it_knew(view.trace, problem))


def _accuracy(view: ReasonView, *, waits: bool) -> None:
    """The curve; while a sweep goes on, it grows."""
    control.draw("bound", on_change=st.rerun)
    if waits:
        return
    if view.active("sweep") is not None:
        platform.part(_curve, run_every=LIVE_SECONDS)(view)
    else:
        _curve(view)


def _curve(view: ReasonView) -> None:
    sweep = reason_many.shown(view)
    if sweep is None:
        with st.container(key=platform.key("ask-sweep"), border=True):
            st.markdown(tr("**Accuracy against the budget**"))
            st.text(tr("No sweep has run yet: start one under Budget sweep."))
        return
    closing = sweep.plan.budget_field == "max_thinking_tokens"
    marked = int(value("thinking")) if closing else reason_controls.whole_bound()
    figure.chart(
        of_figure("accuracy", figures.reason_accuracy, sweep, marked=marked),
        (reason_many.identity(view, sweep), marked),
        on_click=lambda custom: _take_budget(sweep, custom),
    )


def _take_budget(sweep: BudgetSweep, custom: list[object]) -> None:
    """A click on the curve sets the budget."""
    if not custom or not isinstance(custom[0], int | float):
        return
    if sweep.plan.budget_field == "max_thinking_tokens":
        rail.put(reason_controls.BUDGET, int(custom[0]))
        run_again()
    else:
        st.session_state[platform.key("whole")] = max(1, int(custom[0]))
        st.rerun()


def _tab(view: ReasonView, tab: Look) -> None:
    """Draw a tab, and measure again what a link asks for: a link alone loads built-in models only,
    and starts nothing that costs more than a bound.

    What the tab is asked for is known once it is drawn.
    """
    tab.draw(view)
    if closed.state() == "closed":
        return
    first, view.looked = not view.looked, True
    linked = tab.start is not None and st.query_params.get(platform.key(tab.flag)) == "1"
    if first and linked and tab.start and models.is_embedded(str(value("model"))):
        try:
            awaits_press = cost.awaited(tab.tokens(view), tab.button)
        except DecodingError:
            awaits_press = ""  # Starting it says what is wrong.
        if awaits_press:
            view.failures[tab.flag] = awaits_press
        else:
            tab.start(view)
        st.rerun()
