"""A file of rows that is written as they come: locked, whole lines, resumable.

Whatever moment the program is killed at, the file holds whole lines and perhaps half of one at its
end; continuing drops that half.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar, cast

from core.decoding.errors import DecodingError
from core.decoding.validation import brief
from core.evaluation.runner import PlanWork, R, gathered
from core.evaluation.strict_json import read_as, rounded, to_json
from core.evaluation.workers.work import Pool, rows_of
from core.models.stopping import ShouldStop, never
from core.traces.bounded_file import bytes_of, reason_of, require_sparse, shown

P = TypeVar("P", bound=Any)

# Where Windows locks: behind everything that a file may hold.
_LOCKED_AT = 20_000_000


@dataclass(frozen=True, slots=True)
class RowFile(Generic[P, R]):
    """A kind of file: a line for the plan, then one for each row.

    Args:
        what: its content in a sentence, such as `sweep`.
        error: what is raised.
        plan, row: the classes.
        deriver: from a plan to a function from a row of a file to the row that holds: what follows
            from other fields is computed, not believed. It raises `error` for a row that
            contradicts itself.
        as_lists: rows are stored as lists of their values, else as objects.
    """

    what: str
    error: type[DecodingError]
    schema: str
    max_bytes: int
    plan: type[P]
    row: type[R]
    deriver: Callable[[P], Callable[[R], R]]
    as_lists: bool = False
    version: int = 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of a row."""
        return tuple(field.name for field in fields(self.row))  # type: ignore[arg-type]

    def plan_from_json(self, data: Any) -> P:
        """Return the plan that `to_json` made plain; raises `error` for anything else."""
        try:
            return cast(P, read_as(self.plan, data, self.error))
        except self.error as error:
            raise self.error(f"The {self.what}'s plan is invalid: {error}") from None

    def row_to_json(self, row: R) -> Any:
        """Return a row's fields, numbers to 1e-6."""
        values = {name: rounded(value) for name, value in to_json(row).items()}
        return list(values.values()) if self.as_lists else values

    def row_from_json(self, data: Any) -> R:
        """Return the row of `row_to_json`, without the digits that it drops; raises `error`."""
        if self.as_lists:
            if not isinstance(data, list) or len(data) != len(self.columns):
                raise self.error(f"a row must be a list of {len(self.columns)} values")
            data = dict(zip(self.columns, data, strict=True))
        return cast(R, read_as(self.row, data, self.error))

    def settled(self, plan: P, rows: Sequence[R]) -> tuple[R, ...]:
        """Return the rows that hold: derived fields are computed, a run done again counts once.

        Raises:
            error: with its line in a file, a row that is not the plan's, is there twice, or
                contradicts itself.
        """
        places, settled, derived = set(plan.places), dict[Any, R](), self.deriver(plan)
        for line, row in enumerate(rows, start=2):
            earlier = settled.get(row.place)
            is_done = earlier is not None and not earlier.failure
            if row.place not in places or (is_done and not row.failure):
                raise self.error(
                    f"Line {line} of the {self.what} is no run of its plan, or one again."
                )
            if is_done:
                continue
            settled.pop(row.place, None)
            try:
                settled[row.place] = derived(row)
            except self.error as error:
                raise self.error(f"Line {line} of the {self.what} is invalid: {error}.") from None
        return tuple(settled.values())

    def read(self, source: bytes | str | Path) -> tuple[P, tuple[R, ...]]:
        """A stored plan and its rows; half a line at the end is left out.

        Raises:
            error: the first fault, with its line number.
        """
        data = bytes_of(source, self.max_bytes, self.what, self.error)
        # Not splitlines: JSON strings may hold what ends a line elsewhere.
        header, *lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1] or [b""]
        head = parsed_line(header, 1, self.what, self.error)
        known = isinstance(head, dict) and head.get("schema") == self.schema
        if not known or head.get("version") != self.version:
            raise self.error(
                f"This is no {self.what} of Decoding Explorer in version {self.version}."
            )
        plan = self.plan_from_json(head.get("plan"))
        rows = tuple(self._row_of(line, number) for number, line in enumerate(lines, start=2))
        return plan, self.settled(plan, rows)

    def _row_of(self, line: bytes, number: int) -> R:
        data = parsed_line(line, number, self.what, self.error)
        try:
            return self.row_from_json(data)
        except self.error as error:
            sentence = str(error).removesuffix(".")
            raise self.error(f"Line {number} of the {self.what} is invalid: {sentence}.") from None

    def content(self, plan: P, rows: Sequence[R]) -> bytes:
        """A whole file's bytes."""
        lines = [self._header(plan), *map(self.row_to_json, rows)]
        return b"".join(encoded_line(line) for line in lines)

    def _header(self, plan: P) -> dict[str, Any]:
        return {"schema": self.schema, "version": self.version, "plan": to_json(plan)}

    def extend(
        self,
        path: str | Path,
        work: PlanWork[R],
        pool: Pool | None = None,
        on_row: Callable[[R, int], object] | None = None,
        should_stop: ShouldStop = never,
    ) -> tuple[R, ...]:
        """Write the rows of a plan as they come, behind those that the file holds; all of them.

        Args:
            pool: of the workers; without one, this thread does the work.
            on_row: called with each new row and how many rows there are now.

        Raises:
            error: the file holds another plan, another process is writing it, or it can't be read
                or written.
            as `rows_of`.
        """
        with opened(Path(path), self.what, self.error) as file:
            done, length = self._begun(file, work.plan)
            os.ftruncate(file.fileno(), length)
            if not length:
                write_line(file, self._header(work.plan), self.what, self.error)
            coming = rows_of(work, done, pool, should_stop)
            return gathered(self._written(file, coming), done, on_row)

    def _written(self, file: BinaryIO, coming: Iterator[R]) -> Iterator[R]:
        for row in coming:
            write_line(file, self.row_to_json(row), self.what, self.error)
            yield row

    def _begun(self, file: BinaryIO, plan: P) -> tuple[tuple[R, ...], int]:
        """The rows that a file holds already, and the length of its whole lines."""
        data, length = whole_lines(file, self.schema, self.max_bytes)
        if not data:
            return (), 0
        begun, rows = self.read(data)
        if begun != plan:
            raise self.error(
                f"{brief(file.name)} holds {_a(self.what)} with another plan; name another file, "
                "or remove it."
            )
        return tuple(row for row in rows if not row.failure), length


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def opened(path: Path, what: str, error: type[DecodingError]) -> BinaryIO:
    """The file, to be read and added to, held against every other writer until it is closed.

    Args:
        what: its content in a sentence, such as `sweep`.
        error: what is raised.

    Raises:
        error: it can't be opened, is no ordinary file, or another process is writing it.
    """
    try:
        file = path.open("a+b")
    except (OSError, ValueError) as found:
        reason = reason_of(found)
        raise error(f"The {what} {shown(path)} can't be opened: {reason}.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise error(
            f"{shown(path)} is no file that {_a(what)} can be kept in; name an ordinary one."
        )
    try:  # The lock ends with the program, whatever ends that.
        if sys.platform == "win32":
            import msvcrt

            file.seek(_LOCKED_AT)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise error(
            f"Another {what} is writing {brief(str(path))}; wait for its end, or name another file."
        ) from None
    return file


def encoded_line(data: Any) -> bytes:
    """A value as a line of a file."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write_line(file: BinaryIO, data: Any, what: str, error: type[DecodingError]) -> None:
    """Add a line. Nothing of it waits in a buffer: what can't be written is known at once.

    Raises:
        error: the disk is full, or gone.
    """
    line = encoded_line(data)
    try:
        while line:
            line = line[os.write(file.fileno(), line) :]
    except OSError as found:
        raise error(
            f"The {what} {shown(file.name)} can't be written: {reason_of(found)}; the rows before "
            "are kept, and the same command goes on behind them."
        ) from None


def whole_lines(file: BinaryIO, schema: str, limit: int) -> tuple[bytes, int]:
    """Return the file's bytes and the length of its complete lines; 0 if no line is complete.

    An unfinished first line of this schema counts as no bytes. A file that begins in another way
    is of another schema, and its bytes are returned.
    """
    file.seek(0)
    data = file.read(limit + 1)
    length = data.rfind(b"\n") + 1
    start = json.dumps({"schema": schema}, separators=(",", ":")).encode()[:-1]
    if not length and (data.startswith(start) or start.startswith(data)):
        return b"", 0
    return data, length


def parsed_line(line: bytes, number: int, what: str, error: type[DecodingError]) -> Any:
    """A line's value; raises `error` where it is not JSON, or holds too many values."""
    require_sparse(line, f"line {number} of the {what}", error)
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise error(f"Line {number} of the {what} is not JSON.") from None
