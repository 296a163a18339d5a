"""What an evaluation was of, in words."""

from __future__ import annotations

from core.decoding.counting import counted
from core.evaluation.plan.statistics import fair_rows
from core.evaluation.plan.types import Evaluation
from core.figures.base.labels import plain_name

NOTHING_YET = "No question has been asked in every way yet."


def caption(evaluation: Evaluation) -> str:
    """Models, questions and metrics; plain text."""
    plan = evaluation.plan
    models = ", ".join(plain_name(name, 60) for name in plan.models)
    count = counted(len(plan.questions.questions), "question")
    asked = f"{count}: {plain_name(plan.questions.name, 80)}"
    return f"{models} · {asked} · right by {' or '.join(plan.metrics)}"


def so_far(evaluation: Evaluation) -> str:
    """What a figure of an unfinished evaluation has to say; empty for a complete one."""
    if evaluation.complete:
        return ""
    done = len({row.question for row in fair_rows(evaluation)})
    return f" So far {done:,} of {len(evaluation.plan.questions.questions):,} questions."
