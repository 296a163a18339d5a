"""Files of evaluations: a line for the plan, then one line for each finished row."""

from __future__ import annotations

from pathlib import Path

from ...decoding.errors import EvaluationError
from ...language import Message
from ..row_file import RowFile
from .derived import deriver
from .types import Evaluation, EvaluationPlan, EvaluationRow

EVALUATIONS: RowFile[EvaluationPlan, EvaluationRow] = RowFile(
    what=Message("evaluation"),
    error=EvaluationError,
    schema="decoding-explorer/evaluation",
    max_bytes=50_000_000,
    plan=EvaluationPlan,
    row=EvaluationRow,
    deriver=deriver,
)


def read_evaluation(source: bytes | str | Path) -> Evaluation:
    """Return stored rows with their plan; an incomplete last line is ignored.

    Raises:
        EvaluationError: the first fault, with its line number.
    """
    return Evaluation(*EVALUATIONS.read(source))


def file_of(evaluation: Evaluation) -> bytes:
    """Return the file that `evaluate_to_file` would have written."""
    return EVALUATIONS.content(evaluation.plan, evaluation.rows)
