"""Sweeps as plain JSON values and back; what is read is validated field by field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.decoding.errors import ConfigError, SweepError
from core.decoding.validation import shortened
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow

COLUMNS = tuple(field.name for field in fields(SweepRow))


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def plan_to_json(plan: SweepPlan) -> Any:
    """The plan as plain JSON values."""
    return _adapter(SweepPlan).dump_python(plan, mode="json")


def plan_from_json(data: Any) -> SweepPlan:
    """The inverse of `plan_to_json`; raises SweepError for anything else."""
    try:
        plan: SweepPlan = _adapter(SweepPlan).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise SweepError(f"The sweep's plan is invalid: {_fault(error)}.") from None
    return plan


def row_to_json(row: SweepRow) -> list[Any]:
    """The row's fields in order, seconds to the microsecond and log-probabilities to 1e-6."""
    values = astuple(row)
    return [round(value, 6) if isinstance(value, float) else value for value in values]


def row_from_json(data: Any) -> SweepRow:
    """The inverse of `row_to_json`, but for the digits that it drops; raises SweepError."""
    if not isinstance(data, list) or len(data) != len(COLUMNS):
        raise SweepError(f"a row must be a list of {len(COLUMNS)} values")
    named = dict(zip(COLUMNS, data, strict=True))
    try:
        row: SweepRow = _adapter(SweepRow).validate_json(json.dumps(named), strict=True)
    except ValidationError as error:
        raise SweepError(_fault(error)) from None
    return row


def _fault(error: ValidationError) -> str:
    """Its first fault, without a full stop."""
    first = error.errors(include_url=False, include_input=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):
        return cause.plain.removesuffix(".")
    where = shortened(".".join(str(part) for part in first["loc"]), 80) or "the top"
    return f"{where}: {shortened(first['msg'], 200)}"


def require_rows_of(plan: SweepPlan, rows: Sequence[SweepRow]) -> None:
    """Raises SweepError, with its line in a file, for a row that is not the plan's, or is there."""
    expected = {problem.key: problem.answer for problem in plan.problems.problems}
    seen = set()
    for number, row in enumerate(rows, start=2):
        place = (row.problem, row.budget, row.sample)
        planned = row.budget in plan.budgets and 0 <= row.sample < plan.samples
        if not planned or expected.get(row.problem) != row.expected or place in seen:
            raise SweepError(f"Line {number} of the sweep is no run of its plan, or one again.")
        seen.add(place)


def sweep_to_json(sweep: BudgetSweep) -> dict[str, Any]:
    """A plan and its rows."""
    return {"plan": plan_to_json(sweep.plan), "rows": [row_to_json(row) for row in sweep.rows]}


def sweep_from_json(data: Any) -> BudgetSweep:
    """The inverse of `sweep_to_json`; raises SweepError for anything else."""
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise SweepError("a sweep must hold a plan and a list of rows")
    plan = plan_from_json(data.get("plan"))
    rows = tuple(row_from_json(row) for row in data["rows"])
    require_rows_of(plan, rows)
    return BudgetSweep(plan, rows)
