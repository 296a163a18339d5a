"""Draw whether a run's answer is right, in a sentence with an icon."""

from __future__ import annotations

import streamlit as st

from core.decoding.counting import sentences
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import ReasoningSummary
from core.decoding.record.trace import Trace
from core.evaluation.types import AttemptOutcome, Problem
from core.language import N_, tr
from pages.ui import platform
from pages.ui.reasoning.state import RunVerdict

_OUTCOMES: dict[AttemptOutcome, str] = {
    "correct": N_("Correct: {answer}"),
    "wrong": N_("Wrong: {answer}."),
    "truncated": N_("Truncated before answering."),
    "unparsable": N_("Unparsable: it names no number."),
}
_ICONS = {
    "correct": ":material/check_circle:",
    "wrong": ":material/cancel:",
    "truncated": ":material/content_cut:",
    "unparsable": ":material/help:",
}


def draw(verdict: RunVerdict, problem: Problem | None, name: str = "run") -> None:
    """Draw the run's answer and whether it is right, in a sentence with an icon."""
    outcome, right = verdict.outcome, problem.answer if problem is not None else ""
    with st.container(
        key=platform.key(f"verdict-{outcome or 'open'}-{name}"),
        horizontal=True,
        wrap=False,
        vertical_alignment="center",
        gap="small",
    ):
        st.markdown(_ICONS.get(outcome or "", ":material/question_mark:"), width="content")
        st.text(_sentence(verdict, right), width="stretch")


def _sentence(verdict: RunVerdict, right: str) -> str:
    if verdict.outcome is None:
        return tr("It answers {answer}. The right answer isn't known here.", answer=verdict.answer)
    words = tr(_OUTCOMES[verdict.outcome], answer=verdict.answer)
    known = verdict.outcome != "correct" and right
    return tr(sentences(words, tr("The right answer is {right}.", right=right) if known else ""))


def advice(trace: Trace, read: ReasoningSummary, outcome: AttemptOutcome | None) -> str:
    """Advise what to try next, by the outcome of the run; empty for a stopped run."""
    if trace.finish_reason == "cancelled":
        return ""
    if outcome == "truncated":
        return _more_room(trace, read)
    if outcome in ("wrong", "unparsable"):
        if read.closed_by_budget:
            return tr("The budget ended its thinking: raise the budget.")
        if read.thinking_tokens:
            return tr(
                "It ended its thinking by itself: a larger budget alone changes nothing here."
            )
        return tr("It did not think: a larger budget alone changes nothing here.")
    if not read.thinking_tokens:
        return tr("It needed no thinking: choose a problem with more steps.") if outcome else ""
    if read.closed_by_budget:
        return tr("The budget ended its thinking: raise or lower it, and compare the answers.")
    return tr("It ended its thinking by itself. A lower budget leaves it less room.")


def _more_room(trace: Trace, read: ReasoningSummary) -> str:
    """Name the bound that cut the run off."""
    run = trace.config
    assert isinstance(run, Reasoning)
    if read.answer_tokens >= run.max_answer_tokens:
        return tr("The bound on the answer ended it: raise “Answer at most” under More settings.")
    return tr("The bound on the whole run ended it: raise “Whole run at most” under More settings.")
