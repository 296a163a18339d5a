"""A sweep on disk: a line for its plan, then a line for each row, written as soon as it is there.

Whatever moment the program is killed at, the file holds whole lines and perhaps half of one at its
end; continuing drops that half and runs what has no row.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from core.decoding.errors import SweepError
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.types import ThinkMarks
from core.decoding.validation import brief
from core.evaluation.attempts import ROWS, require_rows
from core.evaluation.sweep.run import sweep_rows
from core.evaluation.sweep.serial import (
    plan_from_json,
    plan_to_json,
    require_rows_of,
    row_from_json,
    row_to_json,
)
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.traces.bounded_file import file_bytes, reason_of, shown, within

SCHEMA = "decoding-explorer/sweep"
VERSION = 1
MAX_BYTES = 20_000_000


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


def _parsed(line: bytes, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise SweepError(f"Line {number} of the sweep is not JSON.") from None


def _plan_of(header: bytes) -> SweepPlan:
    data = _parsed(header, 1)
    known = isinstance(data, dict) and data.get("schema") == SCHEMA
    if not known or data.get("version") != VERSION:
        raise SweepError(f"This is no sweep of Decoding Explorer in version {VERSION}.")
    return plan_from_json(data.get("plan"))


def _row_of(line: bytes, number: int) -> SweepRow:
    data = _parsed(line, number)
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
    with _opened(Path(path)) as file:
        done, length = _begun(file, plan)
        rows = list(done)
        os.ftruncate(file.fileno(), length)
        if not length:
            _write(file, {"schema": SCHEMA, "version": VERSION, "plan": plan_to_json(plan)})
        running = sweep_rows(model, plan, done, marks=marks, batch=batch, should_stop=should_stop)
        for row in running:
            _write(file, row_to_json(row))
            rows.append(row)
            if on_row is not None:
                on_row(row, len(rows))
    return BudgetSweep(plan, tuple(rows))


def _opened(path: Path) -> BinaryIO:
    """The file, to be read and added to, held against every other sweep until it is closed."""
    try:
        file = path.open("a+b")
    except (OSError, ValueError) as error:
        reason = reason_of(error)
        raise SweepError(f"The sweep {shown(path)} can't be opened: {reason}.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise SweepError(
            f"{shown(path)} is no file that a sweep can be kept in; name an ordinary one."
        )
    try:
        _hold(file)
    except OSError:
        file.close()
        raise SweepError(
            f"Another sweep is writing {brief(str(path))}; wait for its end, or name another file."
        ) from None
    return file


def _hold(file: BinaryIO) -> None:
    """Lock a file; whatever ends the program ends the lock. Raises OSError if it is locked."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(MAX_BYTES)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write(file: BinaryIO, data: Any) -> None:
    """Add a line. Nothing of it waits in a buffer: what can't be written is known at once.

    Raises:
        SweepError: the disk is full, or gone.
    """
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    try:
        while line:
            line = line[os.write(file.fileno(), line) :]
    except OSError as error:
        raise SweepError(
            f"The sweep {shown(file.name)} can't be written: {reason_of(error)}; the rows before "
            "are kept, and the same command goes on behind them."
        ) from None


def _begun(file: BinaryIO, plan: SweepPlan) -> tuple[tuple[SweepRow, ...], int]:
    """The rows that a file holds already, and the length of its whole lines."""
    file.seek(0)
    data = file.read(MAX_BYTES + 1)
    length = data.rfind(b"\n") + 1
    # Half a first line: killed before the plan was written. Nothing else begins so.
    start = json.dumps({"schema": SCHEMA}, separators=(",", ":")).encode()[:-1]
    if not length and (data.startswith(start) or start.startswith(data)):
        return (), 0
    begun = read_sweep(data)
    if begun.plan != plan:
        raise SweepError(
            f"{brief(file.name)} holds a sweep with another plan; name another file, or remove it."
        )
    return begun.rows, length
