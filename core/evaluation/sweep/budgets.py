"""How a run of a sweep reasons under its budget."""

from __future__ import annotations

from dataclasses import replace

from core.decoding.reasoning.config import Reasoning
from core.evaluation.sweep.types import SweepPlan


def config_of(plan: SweepPlan, budget: int, sample: int) -> Reasoning:
    """How a row's run reasons.

    A thinking budget has room within the whole loop's bound, or its close could never be forced.
    Where the whole loop is bounded (`max_new_tokens`), no other bound applies and no end is
    ignored: the close is not forced, and a run that is still thinking is cut off.
    """
    config = replace(plan.config, seed=plan.config.seed + sample)
    if plan.budget_field == "max_thinking_tokens":
        bound = replace(config, max_thinking_tokens=budget)
        return replace(bound, max_new_tokens=max(bound.max_new_tokens, bound.room))
    return replace(
        config,
        max_new_tokens=budget,
        max_thinking_tokens=budget,
        max_answer_tokens=budget,
        min_new_tokens=min(config.min_new_tokens, budget),
        ignore_end=0,
    )
