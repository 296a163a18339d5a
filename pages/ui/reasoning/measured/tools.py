"""One hard sum without the calculator and with it."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from core.decoding.errors import DecodingError, ProblemError
from core.decoding.reasoning.calculator import ERROR, evaluate, result_of
from core.decoding.reasoning.transcript import read_run
from core.decoding.reasoning.types import CalculatorCall
from core.evaluation.slips import slips
from core.evaluation.types import Problem, Transcript
from core.figures.base.labels import config_caption, plain_name, visible_token
from core.language import N_, Message, tr
from pages.ui import platform
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import state, text, verdict, work
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import address, shared
from pages.ui.run.display import bar
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls.control import value

_HOW = N_(
    "The same question with the same room for the answer. Without the calculator the model is told "
    "to think step by step, and thinks up to the budget; with it, it is told to call and answers "
    "at once. Only a model that was trained to write `<call>` can call: the built-in one was."
)


def draw(view: ReasonView) -> None:
    """Both runs side by side, the call and its result marked."""
    bar.measure(
        view,
        "tools",
        N_("Run with and without calculator"),
        lambda: start(view),
        _next_words(),
        row="compare",
        key="run_tools",
        icon="calculate",
    )
    st.caption(tr(_HOW))
    if view.tools is None:
        st.text(tr("Nothing was run yet."))
        return
    names = (tr("Without the calculator"), tr("With the calculator"))
    with st.container(key=platform.key("pair-tools")):
        for place, (column, run) in enumerate(
            zip(st.columns(2, gap="small"), view.tools, strict=True)
        ):
            with column, st.container(key=platform.key(f"tool-{place}"), border=True, gap="small"):
                st.markdown(f"**{names[place]}**")
                text.draw_transcript(f"tool-{place}", run)
                run_verdict = state.verdict_of(run.attempt, run.problem)
                verdict.draw(run_verdict, run.problem, str(place))
                _calls(run)
                st.text(_settings(run))


def _next_words() -> str:
    try:
        question = plain_name(_problem().question, 80)
    except DecodingError:
        return ""
    return tr("Next: {question}", question=question)


def _problem() -> Problem:
    """The controls' hard sum or own question; else the hard sum of their seed.

    Raises:
        ProblemError: the own question is not complete yet.
    """
    if value("problem") in ("sum", "own"):
        return reason_problem.problem()
    return reason_problem.hard_sum(int(value("problem_seed")))


def start(view: ReasonView) -> None:
    """Run the problem without the calculator, then with it."""
    if view.attempt("tools", _tools):
        address.write("tools", "1")


def tokens(_: ReasonView) -> int:
    """Return the maximum number of tokens that the two runs compute together."""
    return 2 * reason_controls.config().max_new_tokens


def _tools() -> Job:
    try:
        problem = _problem()
    except DecodingError as error:
        raise ProblemError(Message("Your question is not complete yet.")) from error
    return work.tools(shared.model(), problem, reason_controls.config())


def _calls(run: Transcript) -> None:
    """The calls in a sentence each."""
    calls = read_run(run.pieces, run.config).calls
    for call in calls:
        st.text(_worked(call))
    if not calls:
        st.text(tr("No call: every digit is the model's own."))
    for slip in slips(run.problem.question, calls, run.attempt.answer):
        st.text(tr(slip))


def _settings(run: Transcript) -> str:
    """Describe the settings of the run, not those of the controls; its model isn't stored."""
    unsaid = ["think_start", "think_end"]
    unsaid += [] if run.config.think_end else ["max_thinking_tokens"]
    settings = config_caption("", run.config, unsaid).partition(" · ")[2]
    return tr("Made with: {settings}", settings=settings)


def _worked(call: CalculatorCall) -> str:
    """Describe the calculator's result of a call, and its precision."""
    expression, result = visible_token(call.expression, 60), visible_token(call.result, 60)
    if call.result != result_of(call.expression):
        return tr(
            "{expression} was called, but the run was over before its result.",
            expression=expression,
        )
    if call.result == ERROR:
        return tr("{expression} has no value here.", expression=expression)
    if evaluate(call.expression) == Fraction(call.result):
        return tr(
            "{expression} was worked out exactly: {result}", expression=expression, result=result
        )
    return tr(
        "{expression} was worked out to 12 digits: {result}", expression=expression, result=result
    )
