"""Files of sweeps: a line for the plan, then one line for each finished row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...decoding.errors import SweepError
from ...language import N_, Message
from ..row_file import RowFile
from ..scoring.answers import outcome_of
from ..strict_json import to_json
from .types import BudgetSweep, SweepPlan, SweepRow


def _deriver(plan: SweepPlan) -> Callable[[SweepRow], SweepRow]:
    """Return a function that recomputes a stored row's difficulty and outcome."""
    problems = {problem.key: problem for problem in plan.problems.problems}

    def derived(row: SweepRow) -> SweepRow:
        problem = problems[row.problem]
        if row.expected != problem.answer:
            raise SweepError(N_("it is no run of its plan, whose problem has another answer"))
        outcome = outcome_of(row.answer, row.expected, row.finish_reason)
        return replace(row, outcome=outcome, steps=problem.steps)

    return derived


SWEEPS: RowFile[SweepPlan, SweepRow] = RowFile(
    what=Message("sweep"),
    error=SweepError,
    schema="decoding-explorer/sweep",
    max_bytes=20_000_000,
    plan=SweepPlan,
    row=SweepRow,
    deriver=_deriver,
    as_lists=True,
)


def read_sweep(source: bytes | str | Path) -> BudgetSweep:
    """Return a stored sweep; an incomplete last line is ignored.

    Raises:
        SweepError: the first fault, with its line number.
    """
    return BudgetSweep(*SWEEPS.read(source))


def sweep_to_json(sweep: BudgetSweep) -> dict[str, Any]:
    """Return a plan and its rows as plain JSON values."""
    return {"plan": to_json(sweep.plan), "rows": list(map(SWEEPS.row_to_json, sweep.rows))}


def sweep_from_json(data: Any) -> BudgetSweep:
    """Return the sweep from the output of `sweep_to_json`; raise SweepError for anything else."""
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise SweepError(N_("a sweep must hold a plan and a list of rows"))
    plan = SWEEPS.plan_from_json(data.get("plan"))
    return BudgetSweep(plan, SWEEPS.settled(plan, [*map(SWEEPS.row_from_json, data["rows"])]))
