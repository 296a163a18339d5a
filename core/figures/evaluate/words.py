"""Models, questions and metrics of an evaluation, in words."""

from __future__ import annotations

from core.decoding.counting import counted
from core.evaluation.plan.statistics import failures, fair_rows
from core.evaluation.plan.types import Evaluation
from core.figures.base.labels import escaped, plain_name

# So many failed ways have their names in a figure.
_NAMED = 3
NOTHING_YET = "No question has been asked in every way yet."


def caption(evaluation: Evaluation) -> str:
    """Models, questions and metrics; plain text."""
    plan = evaluation.plan
    models = ", ".join(plain_name(name, 60) for name in plan.models)
    count = counted(len(plan.questions.questions), "question")
    questions = f"{count}: {plain_name(plan.questions.name, 80)}"
    return f"{models} · {questions} · right by {' or '.join(plan.metrics)}"


def so_far(evaluation: Evaluation) -> str:
    """Markup on the questions and ways that a figure leaves out; empty where it shows all."""
    done = len({row.question for row in fair_rows(evaluation)})
    whole = len(evaluation.plan.questions.questions)
    text = ""
    if not evaluation.complete:
        text = f" So far {done:,} of {whole:,} questions."
    elif done < whole:
        text = f" {whole - done:,} of {whole:,} questions are left out, on which a way failed."
    lost = [
        escaped(plain_name(failure.way, 60)) for failure in failures(evaluation) if failure.whole
    ]
    if lost:
        more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
        text += f" Failed and left out: {', '.join(lost[:_NAMED])}{more}."
    return text
