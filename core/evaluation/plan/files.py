"""An evaluation on disk: a line for its plan, then one for each row as soon as it is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.decoding.errors import EvaluationError
from core.decoding.validation import brief
from core.evaluation.plan.run import Models, evaluation_rows, with_revisions
from core.evaluation.plan.serial import (
    plan_from_json,
    plan_to_json,
    require_rows_of,
    row_from_json,
    row_to_json,
)
from core.evaluation.plan.types import Evaluation, EvaluationPlan, EvaluationRow
from core.evaluation.row_file import opened, parsed_line, whole_lines, write_line
from core.traces.bounded_file import file_bytes, within

SCHEMA = "decoding-explorer/evaluation"
VERSION = 1
MAX_BYTES = 50_000_000
_NAMED = ("evaluation", EvaluationError)


def read_evaluation(source: bytes | str | Path) -> Evaluation:
    """Stored rows with their plan; half a line at the end is left out.

    Raises:
        EvaluationError: the first fault, with its line number.
    """
    if isinstance(source, bytes):
        data = within(source, MAX_BYTES, *_NAMED)
    else:
        data = file_bytes(source, MAX_BYTES, *_NAMED)
    # Not splitlines of text: JSON strings may hold what ends a line elsewhere.
    header, *lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1] or [b""]
    found = parsed_line(header, 1, *_NAMED)
    known = isinstance(found, dict) and found.get("schema") == SCHEMA
    if not known or found.get("version") != VERSION:
        raise EvaluationError(f"This is no evaluation of Decoding Explorer in version {VERSION}.")
    plan = plan_from_json(found.get("plan"))
    rows = [_row_of(line, number) for number, line in enumerate(lines, start=2)]
    require_rows_of(plan, rows)
    return Evaluation(plan, tuple(rows))


def _row_of(line: bytes, number: int) -> EvaluationRow:
    data = parsed_line(line, number, *_NAMED)
    try:
        return row_from_json(data)
    except EvaluationError as error:
        raise EvaluationError(f"Line {number} of the evaluation is invalid: {error}") from None


def evaluate_to_file(
    models: Models,
    plan: EvaluationPlan,
    path: str | Path,
    *,
    on_row: Callable[[EvaluationRow, int], object] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Evaluation:
    """Run a plan into a file, or go on where the file ends; the arguments of `run_evaluation`.

    Raises:
        EvaluationError: the file holds another plan (or one over other weights), another
            evaluation is writing it, or it can't be read or written.
    """
    plan = with_revisions(plan, models)
    with opened(Path(path), *_NAMED) as file:
        done, length = _begun(file, plan)
        rows = list(done)
        os.ftruncate(file.fileno(), length)
        if not length:
            header = {"schema": SCHEMA, "version": VERSION, "plan": plan_to_json(plan)}
            write_line(file, header, *_NAMED)
        for row in evaluation_rows(models, plan, done, should_stop=should_stop):
            write_line(file, row_to_json(row), *_NAMED)
            rows.append(row)
            if on_row is not None:
                on_row(row, len(rows))
    return Evaluation(plan, tuple(rows))


def _begun(file: BinaryIO, plan: EvaluationPlan) -> tuple[tuple[EvaluationRow, ...], int]:
    """The rows that a file holds already, and the length of its whole lines."""
    data, length = whole_lines(file, SCHEMA, MAX_BYTES)
    if not data:
        return (), 0
    begun = read_evaluation(data)
    if begun.plan != plan:
        raise EvaluationError(
            f"{brief(file.name)} holds an evaluation with another plan; name another file, or "
            "remove it."
        )
    return begun.rows, length
