"""Choose the problem of the reasoning page: drawn from a seed, or the visitor's own."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import streamlit as st

from core.decoding.config import MethodConfig
from core.decoding.errors import ProblemError
from core.decoding.reasoning.config import Reasoning
from core.decoding.record.trace import Trace
from core.evaluation.questions.chains import MOST_STEPS
from core.evaluation.questions.problems import THINKING_SYSTEM, make_hard_sums, make_problems
from core.evaluation.scoring.answers import MAX_DIGITS, normal_number
from core.evaluation.types import Problem, ProblemSet
from core.language import Message, tr
from pages.ui import platform
from pages.ui.reasoning import controls
from pages.ui.run import shared
from pages.ui.run.request import Request, RunControls
from pages.ui.widgets.controls.control import Read, draw, load, value

# Checked here: a field with `max_chars` throws a longer text away without a word.
MAX_QUESTION = 2000
ALL_STEPS = tuple(range(1, MOST_STEPS + 1))


def problem(read: Read = value) -> Problem:
    """The problem that the controls name.

    Raises:
        ProblemError: an own question without words or with too many, or an own answer that is no
            number.
    """
    if read("problem") == "own":
        return _own(own_question(read), str(read("right")).strip())
    if read("problem") == "sum":
        return hard_sum(int(read("problem_seed")))
    return chains(MOST_STEPS, int(read("problem_seed"))).problems[int(read("steps")) - 1]


def own_question(read: Read = value) -> str:
    """The visitor's own question; empty where another kind of problem is chosen."""
    return str(read("question")).strip() if read("problem") == "own" else ""


def awaits_question() -> bool:
    """Return whether an own question is chosen but not yet written, which is no mistake."""
    return value("problem") == "own" and not own_question()


def _own(question: str, right: str) -> Problem:
    if not question:
        raise ProblemError(
            Message("Your question is empty: write it, or choose another kind of problem.")
        )
    if len(question) > MAX_QUESTION:
        raise ProblemError(
            Message(
                "Your question has {characters:,} characters; {most:,} are the most.",
                characters=len(question),
                most=MAX_QUESTION,
            )
        )
    answer = normal_number(right)
    if right and answer is None:
        raise ProblemError(
            Message(
                "The right answer must be a number of at most {digits} digits, or empty where you "
                "don't know it.",
                digits=MAX_DIGITS,
            )
        )
    return Problem(question, question, answer or "", None, THINKING_SYSTEM)


@lru_cache(maxsize=16)
def chains(count: int, seed: int, steps: tuple[int, ...] = ALL_STEPS) -> ProblemSet:
    """Return `count` problems of this seed; the first eight of all have 1 to 8 steps."""
    return make_problems(count, seed=seed, steps=steps)


@lru_cache(maxsize=64)
def hard_sum(seed: int) -> Problem:
    """A sum that the embedded model needs its calculator for."""
    return make_hard_sums(1, seed=seed).problems[0]


@dataclass(frozen=True, slots=True)
class ReasonRequest(Request):
    """A problem put to a model, which thinks between its own marks."""

    problem: Problem | None = None

    def prompt_for(self, model: Any) -> Sequence[int]:
        """The problem's ids, as a chat where the model has a template."""
        from core.evaluation.questions.asking import prompt_ids_of

        assert self.problem is not None
        return prompt_ids_of(model, self.problem, model.think_marks)

    def config_for(self, model: Any) -> MethodConfig:
        """The settings with the model's own marks."""
        return marked(model, cast(Reasoning, self.config))


def marked(model: Any, config: Reasoning) -> Reasoning:
    """A reasoning config with the marks of the model's own thinking."""
    marks = model.think_marks
    return replace(config, think_start=marks.start, think_end=marks.end)


def request(read: Read = value) -> ReasonRequest:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    chosen = problem(read)
    return ReasonRequest(shared.model(read), chosen.question, controls.config(read), problem=chosen)


def pick_problem() -> None:
    """Draw the choice of the problem: a chain of steps, a hard sum, or the visitor's own."""
    draw("problem", label_visibility="collapsed")
    if value("problem") == "chain":
        draw("steps")
    if value("problem") != "own":
        st.button(
            tr("Another problem"),
            key=platform.key("another_problem"),
            icon=":material/casino:",
            help=tr("Another problem of this kind. None was in the built-in model's training."),
            on_click=_another,
        )


def _another() -> None:
    st.session_state[platform.key("problem_seed")] = secrets.randbelow(controls.MAX_PROBLEM_SEED)


def write_question() -> None:
    """One's own question and its answer, where they are asked for."""
    if value("problem") != "own":
        return
    with st.container(
        key=platform.key("own-question"), horizontal=True, vertical_alignment="bottom"
    ):
        draw("question", "right")


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the controls' values for a run, by key, as far as they reach."""
    values = controls.control_values(trace)
    if not _is_asked(trace.prompt):
        values |= {"problem": "own", "right": "", "question": trace.prompt[:MAX_QUESTION]}
    return values


def load_controls(trace: Trace) -> None:
    """Set the controls to what the run was made with, as far as they reach."""
    load(control_values(trace))


RUN_CONTROLS = RunControls(controls.RUN, controls.config, control_values, request)


def _is_asked(question: str) -> bool:
    """Return whether the controls already name this problem."""
    try:
        return problem().question == question
    except ProblemError:
        return False
