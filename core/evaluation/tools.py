"""A problem without the calculator and with it, as alike as the two can be."""

from __future__ import annotations

from dataclasses import replace

from core.decoding.reasoning.config import Reasoning
from core.evaluation.questions.problems import CALCULATOR_SYSTEM, THINKING_SYSTEM
from core.evaluation.types import Problem


def both_ways(
    problem: Problem, config: Reasoning
) -> tuple[tuple[Problem, Reasoning], tuple[Problem, Reasoning]]:
    """Return the problem and config of a run without the calculator, then of one with it.

    Either way the answer has the same room, where a call needs more than a sentence. Without, the
    model is told to think and does; with it, it is told to call and doesn't think, as the embedded
    model was trained.
    """
    answer = max(config.max_answer_tokens, Reasoning().max_answer_tokens)
    alone = replace(config, calculator=False, max_answer_tokens=answer)
    alone = replace(alone, max_new_tokens=max(alone.max_new_tokens, alone.room))
    called = replace(alone, calculator=True, think_start="", think_end="")
    return (
        (replace(problem, system=THINKING_SYSTEM), alone),
        (replace(problem, system=CALCULATOR_SYSTEM), called),
    )
