"""Texts about the models, questions and metrics of an evaluation."""

from __future__ import annotations

from ...decoding.counting import counted, listed
from ...evaluation.plan.statistics import failures, fair_rows
from ...evaluation.plan.types import Evaluation
from ...evaluation.scoring.metrics import METRICS
from ...language import N_, tr
from ..base.labels import escaped, plain_name, set_name
from ..base.sheet import joined

# Number of failed ways that a figure names.
_NAMED = 3
NOTHING_YET = N_("No question has been asked in every way yet.")


def caption(evaluation: Evaluation) -> str:
    """Return models, questions and metrics; plain text."""
    plan = evaluation.plan
    models = tr(", ").join(plain_name(name, 60) for name in plan.models)
    count = counted(len(plan.questions.questions), "question")
    questions = f"{tr(count)}: {set_name(plan.questions.name)}"
    names = [METRICS[name].label if name in METRICS else name for name in plan.metrics]
    first, last = names[:-1], names[-1:]
    rule = listed([listed(first), *last], N_("{one} or {other}")) if first else listed(last)
    metrics = tr("right by {metrics}", metrics=rule)
    return f"{models} · {questions} · {metrics}"


def so_far(evaluation: Evaluation) -> str:
    """Return the markup on questions and ways that a figure leaves out; empty if it shows all."""
    done = len({row.question for row in fair_rows(evaluation)})
    whole = len(evaluation.plan.questions.questions)
    lost = [escaped(plain_name(f.way, 60)) for f in failures(evaluation) if f.whole]
    named = tr(", ").join(lost[:_NAMED])
    if len(lost) > _NAMED:
        named = tr("{names} and {number:,} more", names=named, number=len(lost) - _NAMED)
    return joined(
        (
            not evaluation.complete
            and tr("So far {done:,} of {whole:,} questions.", done=done, whole=whole),
            evaluation.complete
            and done < whole
            and tr(
                "{number:,} of {whole:,} questions are left out, on which a way failed.",
                number=whole - done,
                whole=whole,
            ),
            bool(lost) and tr("Failed and left out: {names}.", names=named),
        )
    )
