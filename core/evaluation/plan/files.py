"""An evaluation on disk: a line for its plan, then one for each row as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.decoding.errors import EvaluationError
from core.evaluation.plan.run import Models, Rewards, evaluation_rows, with_revisions
from core.evaluation.plan.serial import (
    plan_from_json,
    plan_to_json,
    row_from_json,
    row_to_json,
    settled_rows,
)
from core.evaluation.plan.types import Evaluation, EvaluationPlan, EvaluationRow
from core.evaluation.plan.work import EvaluationWork
from core.evaluation.row_file import RowFile
from core.evaluation.workers.threads import all_on_servers, rows_in_flight

EVALUATIONS: RowFile[EvaluationPlan, EvaluationRow] = RowFile(
    what="evaluation",
    error=EvaluationError,
    schema="decoding-explorer/evaluation",
    version=1,
    max_bytes=50_000_000,
    plan_to_json=plan_to_json,
    plan_from_json=plan_from_json,
    row_to_json=row_to_json,
    row_from_json=row_from_json,
    settled=settled_rows,
    is_final=lambda row: not row.failure,
)


def read_evaluation(source: bytes | str | Path) -> Evaluation:
    """Stored rows with their plan; half a line at the end is left out.

    Raises:
        EvaluationError: the first fault, with its line number.
    """
    return Evaluation(*EVALUATIONS.read(source))


def file_of(evaluation: Evaluation) -> bytes:
    """The file that `evaluate_to_file` would have written."""
    return EVALUATIONS.content(evaluation.plan, evaluation.rows)


def evaluate_to_file(
    models: Models,
    plan: EvaluationPlan,
    path: str | Path,
    *,
    rewards: Rewards | None = None,
    on_row: Callable[[EvaluationRow, int], object] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    in_flight: int = 1,
) -> Evaluation:
    """Run a plan into a file, or go on where the file ends; the arguments of `run_evaluation`.

    Args:
        in_flight: questions at once at most, where all models are on servers.

    Raises:
        EvaluationError: the file holds another plan (or one over other weights), another
            evaluation is writing it, or it can't be read or written.
    """
    plan = with_revisions(plan, models, rewards)
    rows = partial(evaluation_rows, models, plan)
    behind = partial(rows, rewards=rewards, should_stop=should_stop)
    asked = models.values()
    if in_flight > 1 and rewards is None and all_on_servers(asked):
        work = EvaluationWork(plan)
        behind = partial(rows_in_flight, rows, work, asked, most=in_flight, should_stop=should_stop)
    return Evaluation(plan, EVALUATIONS.extend(path, plan, behind, on_row))
