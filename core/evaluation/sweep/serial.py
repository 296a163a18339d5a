"""Sweeps as plain JSON values and back; what is read is validated field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from typing import Any

from core.decoding.errors import SweepError
from core.evaluation.scoring.answers import outcome_of
from core.evaluation.strict_json import adapter, read_as, require_runs, rounded
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow

COLUMNS = tuple(field.name for field in fields(SweepRow))


def plan_to_json(plan: SweepPlan) -> Any:
    """The plan as plain JSON values."""
    return adapter(SweepPlan).dump_python(plan, mode="json")


def plan_from_json(data: Any) -> SweepPlan:
    """The inverse of `plan_to_json`; raises SweepError for anything else."""
    try:
        plan: SweepPlan = read_as(SweepPlan, data, SweepError)
    except SweepError as error:
        raise SweepError(f"The sweep's plan is invalid: {error}") from None
    return plan


def row_to_json(row: SweepRow) -> list[Any]:
    """The row's fields in order, seconds to the microsecond and log-probabilities to 1e-6."""
    return [rounded(value) for value in astuple(row)]


def row_from_json(data: Any) -> SweepRow:
    """The inverse of `row_to_json`, but for the digits that it drops; raises SweepError."""
    if not isinstance(data, list) or len(data) != len(COLUMNS):
        raise SweepError(f"a row must be a list of {len(COLUMNS)} values")
    row: SweepRow = read_as(SweepRow, dict(zip(COLUMNS, data, strict=True)), SweepError)
    return row


def settled_rows(plan: SweepPlan, rows: Sequence[SweepRow]) -> tuple[SweepRow, ...]:
    """The rows with outcomes that follow from their answers, and the difficulties of the plan.

    Raises:
        SweepError: with its line in a file, a row that is not the plan's, or is there twice.
    """
    expected = {problem.key: problem.answer for problem in plan.problems.problems}

    def planned(row: SweepRow) -> bool:
        known = row.budget in plan.budgets and expected.get(row.problem) == row.expected
        return known and 0 <= row.sample < plan.samples

    runs = (((row.problem, row.budget, row.sample), planned(row)) for row in rows)
    require_runs(runs, "sweep", SweepError)
    steps = {problem.key: problem.steps for problem in plan.problems.problems}
    return tuple(
        replace(
            row,
            outcome=outcome_of(row.answer, row.expected, row.finish_reason),
            steps=steps[row.problem],
        )
        for row in rows
    )


def sweep_to_json(sweep: BudgetSweep) -> dict[str, Any]:
    """A plan and its rows."""
    return {"plan": plan_to_json(sweep.plan), "rows": [row_to_json(row) for row in sweep.rows]}


def sweep_from_json(data: Any) -> BudgetSweep:
    """The inverse of `sweep_to_json`; raises SweepError for anything else."""
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise SweepError("a sweep must hold a plan and a list of rows")
    plan = plan_from_json(data.get("plan"))
    rows = tuple(row_from_json(row) for row in data["rows"])
    return BudgetSweep(plan, settled_rows(plan, rows))
