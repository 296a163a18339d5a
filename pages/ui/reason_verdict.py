"""Whether a run's answer is right, in a sentence with a sign."""

from __future__ import annotations

import streamlit as st

from core.figures.reason.words import OUTCOME_WORDS
from core.reasoning.types import Problem
from pages.ui.reason_state import Verdict

_ICONS = {
    "correct": ":material/check_circle:",
    "wrong": ":material/cancel:",
    "truncated": ":material/content_cut:",
    "unparsable": ":material/help:",
}


def draw(found: Verdict, problem: Problem | None, name: str = "run") -> None:
    """What the run answered and whether that is right, in a sentence with a sign."""
    outcome, right = found.outcome, problem.answer if problem is not None else ""
    with st.container(
        key=f"verdict-{outcome or 'open'}-{name}",
        horizontal=True,
        wrap=False,
        vertical_alignment="center",
        gap="small",
    ):
        st.markdown(_ICONS.get(outcome or "", ":material/question_mark:"), width="content")
        st.text(_sentence(found, right), width="stretch")


def _sentence(found: Verdict, right: str) -> str:
    if found.outcome is None:
        return f"It answers {found.answer}. The right answer isn't known here."
    words = OUTCOME_WORDS[found.outcome].capitalize()
    if found.outcome == "unparsable":
        words += ": it names no number"
    if found.outcome == "correct":
        return f"{words}: {found.answer}"
    known = f" The right answer is {right}." if right else ""
    return (f"{words}: {found.answer}." if found.answer else f"{words}.") + known
