"""Settings to run a problem with and without the calculator under equal conditions."""

from __future__ import annotations

from dataclasses import replace

from ..decoding.reasoning.config import Reasoning
from .questions.problems import CALCULATOR_SYSTEM, THINKING_SYSTEM
from .types import Problem


def both_ways(
    problem: Problem, config: Reasoning
) -> tuple[tuple[Problem, Reasoning], tuple[Problem, Reasoning]]:
    """Return the problem and config of a run without the calculator, then of a run with it.

    Both have the same room for the answer; a call needs more than a sentence. Without it, the
    prompt asks the model to think, and it does; with it, the prompt asks for a call, and the model
    doesn't think, as in the embedded model's training.
    """
    answer = max(config.max_answer_tokens, Reasoning().max_answer_tokens)
    alone = replace(config, calculator=False, max_answer_tokens=answer)
    alone = replace(alone, max_new_tokens=max(alone.max_new_tokens, alone.room))
    called = replace(alone, calculator=True, think_start="", think_end="")
    return (
        (replace(problem, system=THINKING_SYSTEM), alone),
        (replace(problem, system=CALCULATOR_SYSTEM), called),
    )
