"""One hard sum without the calculator and with it."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.reasoning.calculator import ERROR, evaluate, result_of
from core.decoding.reasoning.transcript import read_run
from core.decoding.reasoning.types import Call
from core.evaluation.slips import slips
from core.evaluation.types import Problem, Transcript
from core.figures.base.labels import visible_token
from pages.ui.decode import controls
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import state, text, verdict, work
from pages.ui.reasoning.controls import value
from pages.ui.reasoning.state import ReasonView

_HOW = (
    "The same question with the same room for the answer. Without the calculator the model is told "
    "to think step by step, and thinks up to the budget; with it, it is told to call and answers "
    "at once. Only a model that was trained to write `<call>` can call: the built-in one was."
)


def draw(view: ReasonView) -> None:
    """Both runs side by side, the call and its result marked."""
    _bar(view)
    st.caption(_HOW)
    if view.tools is None:
        st.text("Nothing was run yet.")
        return
    names = ("Without the calculator", "With the calculator")
    with st.container(key="pair"):
        for place, (column, run) in enumerate(
            zip(st.columns(2, gap="small"), view.tools, strict=True)
        ):
            with column, st.container(key=f"tool-{place}", border=True, gap="small"):
                st.markdown(f"**{names[place]}**")
                text.draw_transcript(f"tool-{place}", run)
                found = state.verdict_of(run.attempt, run.problem)
                verdict.draw(found, run.problem, str(place))
                _calls(run)


def _bar(view: ReasonView) -> None:
    job, error = view.active("tools"), view.failures.get("tools", "")
    with st.container(key="compare", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Stop" if job else "Run this problem both ways",
            key="run_tools",
            icon=":material/stop:" if job else ":material/calculate:",
            on_click=job.stop if job else start,
            args=() if job else (view,),
        )
        st.text(f"{job.stage}…" if job else error or _next_words(), width="stretch")


def _next_words() -> str:
    problem = _wanted()
    return f"Next: {visible_token(problem.question, 80).replace('␣', ' ')}" if problem else ""


def _wanted() -> Problem | None:
    """The controls' hard sum or own question; else the hard sum of their seed."""
    if value("problem") in ("sum", "own"):
        try:
            return reason_problem.problem()
        except DecodingError:
            return None
    return reason_problem.hard_sum(int(value("problem_seed")))


def start(view: ReasonView) -> None:
    """Run the problem without the calculator, then with it."""
    problem = _wanted()
    if "tools" in view.jobs:
        return
    if problem is None:
        view.failures["tools"] = "Your question is not complete yet."
        return
    try:
        config = reason_controls.config()
    except DecodingError as error:
        view.failures["tools"] = str(error)
        return
    view.failures["tools"] = ""
    view.jobs["tools"] = work.tools(str(controls.value("model")).strip(), problem, config)
    state.tell_link("tools", told=True)


def _calls(run: Transcript) -> None:
    """The calls in a sentence each."""
    calls = read_run(run.pieces, run.config).calls
    for call in calls:
        st.text(_worked(call))
    if not calls:
        st.text("No call: every digit is the model's own.")
    for slip in slips(run.problem.question, calls, run.attempt.answer):
        st.text(slip)


def _worked(call: Call) -> str:
    """What the calculator made of a call, and how exactly."""
    expression, result = visible_token(call.expression, 60), visible_token(call.result, 60)
    if call.result != result_of(call.expression):
        return f"{expression} was called, but the run was over before its result."
    if call.result == ERROR:
        return f"{expression} has no value here."
    exact = evaluate(call.expression) == Fraction(call.result)
    return f"{expression} was worked out {'exactly' if exact else 'to 12 digits'}: {result}"
