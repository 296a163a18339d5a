"""A sweep on disk: a line for its plan, then one for each row as soon as it is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.decoding.errors import SweepError
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.types import ThinkMarks
from core.decoding.validation import brief
from core.evaluation.attempts import ROWS, require_rows
from core.evaluation.row_file import opened, parsed_line, whole_lines, write_line
from core.evaluation.sweep.run import sweep_rows
from core.evaluation.sweep.serial import (
    plan_from_json,
    plan_to_json,
    require_rows_of,
    row_from_json,
    row_to_json,
)
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.traces.bounded_file import file_bytes, within

SCHEMA = "decoding-explorer/sweep"
VERSION = 1
MAX_BYTES = 20_000_000
_NAMED = ("sweep", SweepError)


def read_sweep(source: bytes | str | Path) -> BudgetSweep:
    """A stored sweep; half a line at its end is left out.

    Raises:
        SweepError: the first fault, with its line number.
    """
    if isinstance(source, bytes):
        data = within(source, MAX_BYTES, "sweep", SweepError)
    else:
        data = file_bytes(source, MAX_BYTES, "sweep", SweepError)
    header, *lines = data[: data.rfind(b"\n") + 1].splitlines() or [b""]
    plan = _plan_of(header)
    rows = [_row_of(line, number) for number, line in enumerate(lines, start=2)]
    require_rows_of(plan, rows)
    return BudgetSweep(plan, tuple(rows))


def _plan_of(header: bytes) -> SweepPlan:
    data = parsed_line(header, 1, *_NAMED)
    known = isinstance(data, dict) and data.get("schema") == SCHEMA
    if not known or data.get("version") != VERSION:
        raise SweepError(f"This is no sweep of Decoding Explorer in version {VERSION}.")
    return plan_from_json(data.get("plan"))


def _row_of(line: bytes, number: int) -> SweepRow:
    data = parsed_line(line, number, *_NAMED)
    try:
        return row_from_json(data)
    except SweepError as error:
        raise SweepError(f"Line {number} of the sweep is invalid: {error}.") from None


def sweep_to_file(
    model: LanguageModel,
    plan: SweepPlan,
    path: str | Path,
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    on_row: Callable[[SweepRow, int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> BudgetSweep:
    """Run a plan into a file, or go on where the file ends; the arguments of `run_sweep`.

    Raises:
        SweepError: the file holds another plan, another sweep is writing it, or it can't be read
            or written.
    """
    require_rows(batch)
    with opened(Path(path), *_NAMED) as file:
        done, length = _begun(file, plan)
        rows = list(done)
        os.ftruncate(file.fileno(), length)
        if not length:
            header = {"schema": SCHEMA, "version": VERSION, "plan": plan_to_json(plan)}
            write_line(file, header, *_NAMED)
        running = sweep_rows(model, plan, done, marks=marks, batch=batch, should_stop=should_stop)
        for row in running:
            write_line(file, row_to_json(row), *_NAMED)
            rows.append(row)
            if on_row is not None:
                on_row(row, len(rows))
    return BudgetSweep(plan, tuple(rows))


def _begun(file: BinaryIO, plan: SweepPlan) -> tuple[tuple[SweepRow, ...], int]:
    """The rows that a file holds already, and the length of its whole lines."""
    data, length = whole_lines(file, SCHEMA, MAX_BYTES)
    if not data:
        return (), 0
    begun = read_sweep(data)
    if begun.plan != plan:
        raise SweepError(
            f"{brief(file.name)} holds a sweep with another plan; name another file, or remove it."
        )
    return begun.rows, length
