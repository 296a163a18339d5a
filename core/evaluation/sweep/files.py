"""A sweep on disk: a line for its plan, then one for each row as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.decoding.errors import SweepError
from core.decoding.protocol import LanguageModel, offers
from core.decoding.reasoning.types import ThinkMarks
from core.evaluation.attempts import ROWS, require_rows
from core.evaluation.row_file import RowFile
from core.evaluation.sweep.run import sweep_rows
from core.evaluation.sweep.serial import (
    plan_from_json,
    plan_to_json,
    row_from_json,
    row_to_json,
    settled_rows,
)
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.evaluation.sweep.work import SweepWork
from core.evaluation.workers.threads import OnServer, rows_in_flight
from core.models.stopping import never

SWEEPS: RowFile[SweepPlan, SweepRow] = RowFile(
    what="sweep",
    error=SweepError,
    schema="decoding-explorer/sweep",
    version=1,
    max_bytes=20_000_000,
    plan_to_json=plan_to_json,
    plan_from_json=plan_from_json,
    row_to_json=row_to_json,
    row_from_json=row_from_json,
    settled=settled_rows,
)


def read_sweep(source: bytes | str | Path) -> BudgetSweep:
    """A stored sweep; half a line at its end is left out.

    Raises:
        SweepError: the first fault, with its line number.
    """
    return BudgetSweep(*SWEEPS.read(source))


def sweep_to_file(
    model: LanguageModel,
    plan: SweepPlan,
    path: str | Path,
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    on_row: Callable[[SweepRow, int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    in_flight: int = 1,
) -> BudgetSweep:
    """Run a plan into a file, or go on where the file ends; the arguments of `run_sweep`.

    Args:
        in_flight: batches at once at most, where the model is on a server.

    Raises:
        SweepError: the file holds another plan, another sweep is writing it, or it can't be read
            or written.
    """
    require_rows(batch)
    rows = partial(sweep_rows, model, plan, marks=marks, batch=batch)
    behind = partial(rows, should_stop=should_stop)
    if in_flight > 1 and offers(model, OnServer):
        work, stop = SweepWork(plan, model.model_id, batch=batch), should_stop or never
        behind = partial(rows_in_flight, rows, work, [model], most=in_flight, should_stop=stop)
    return BudgetSweep(plan, SWEEPS.extend(path, plan, behind, on_row))
