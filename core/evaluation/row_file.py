"""File of rows that are written one by one: locked, complete lines, resumable.

If the program is killed, the file holds complete lines and perhaps an incomplete last line;
resuming removes the incomplete line.
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

from ..decoding.errors import DecodingError
from ..decoding.files import reason_of, shown
from ..decoding.validation import brief
from ..language import N_, Message
from ..models.stopping import ShouldStop, never
from ..traces.bounded_file import bytes_of, require_sparse
from .runner import PlanWork, R, gathered
from .strict_json import read_as, rounded, to_json
from .workers.work import Pool, rows_of

P = TypeVar("P", bound=Any)

# Offset of the lock on Windows, beyond any file's content.
_LOCKED_AT = 20_000_000


@dataclass(frozen=True, slots=True)
class RowFile(Generic[P, R]):
    """A file format: a line for the plan, then one for each row.

    Args:
        what: kind of content in messages, such as `sweep`.
        error: class of the errors to raise.
        plan, row: the classes of plan and rows.
        deriver: returns, for a plan, a function that recomputes the derived fields of a stored
            row, which are not trusted. The function raises `error` for a row that contradicts
            itself.
        as_lists: True if rows are stored as lists of values, else as objects.
    """

    what: Message
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
        """Names of a row's fields."""
        return tuple(field.name for field in fields(self.row))  # type: ignore[arg-type]

    def plan_from_json(self, data: Any) -> P:
        """Return the plan from the output of `to_json`; raise `error` for anything else."""
        try:
            return cast(P, read_as(self.plan, data, self.error))
        except self.error as error:
            raise self.error(
                Message("The {what}'s plan is invalid: {error}", what=self.what, error=error)
            ) from None

    def row_to_json(self, row: R) -> Any:
        """Return a row's fields, with numbers rounded to 1e-6."""
        values = {name: rounded(value) for name, value in to_json(row).items()}
        return list(values.values()) if self.as_lists else values

    def row_from_json(self, data: Any) -> R:
        """Return the row from the rounded output of `row_to_json`; else raise `error`."""
        if self.as_lists:
            if not isinstance(data, list) or len(data) != len(self.columns):
                raise self.error(
                    Message("a row must be a list of {columns} values", columns=len(self.columns))
                )
            data = dict(zip(self.columns, data, strict=True))
        return cast(R, read_as(self.row, data, self.error))

    def settled(self, plan: P, rows: Sequence[R]) -> tuple[R, ...]:
        """Return the valid rows: derived fields are recomputed, a repeated run counts once.

        Raises:
            error: a row is not in the plan, is a duplicate, or contradicts itself; with its line
                number.
        """
        places, settled, derived = set(plan.places), dict[Any, R](), self.deriver(plan)
        for line, row in enumerate(rows, start=2):
            earlier = settled.get(row.place)
            is_done = earlier is not None and not earlier.failure
            if row.place not in places or (is_done and not row.failure):
                raise self.error(
                    Message(
                        "Line {line} of the {what} is no run of its plan, or one again.",
                        line=line,
                        what=self.what,
                    )
                )
            if is_done:
                continue
            settled.pop(row.place, None)
            try:
                settled[row.place] = derived(row)
            except self.error as error:
                raise self.error(
                    Message(
                        "Line {line} of the {what} is invalid: {error}.",
                        line=line,
                        what=self.what,
                        error=error,
                    )
                ) from None
        return tuple(settled.values())

    def read(self, source: bytes | str | Path) -> tuple[P, tuple[R, ...]]:
        """Return a stored plan and its rows; an incomplete last line is ignored.

        Raises:
            error: the first fault, with its line number.
        """
        data = bytes_of(source, self.max_bytes, self.what, self.error)
        # Not splitlines: JSON strings may contain other line separators.
        header, *lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1] or [b""]
        head = parsed_line(header, 1, self.what, self.error)
        known = isinstance(head, dict) and head.get("schema") == self.schema
        if not known or head.get("version") != self.version:
            raise self.error(
                Message(
                    "This is no {what} of Decoding Explorer in version {version}.",
                    what=self.what,
                    version=self.version,
                )
            )
        plan = self.plan_from_json(head.get("plan"))
        rows = tuple(self._row_of(line, number) for number, line in enumerate(lines, start=2))
        return plan, self.settled(plan, rows)

    def _row_of(self, line: bytes, number: int) -> R:
        data = parsed_line(line, number, self.what, self.error)
        try:
            return self.row_from_json(data)
        except self.error as error:
            words = N_("Line {line} of the {what} is invalid: {error}.")
            if str(error).endswith("."):
                words = N_("Line {line} of the {what} is invalid: {error}")
            raise self.error(Message(words, line=number, what=self.what, error=error)) from None

    def content(self, plan: P, rows: Sequence[R]) -> bytes:
        """Return a whole file's bytes."""
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
        """Append each new row of a plan to the file, and return all rows.

        Args:
            pool: pool of workers; without one, this thread does the work.
            on_row: called with each new row and the current number of rows.

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
        """Return the rows in a file, and the length of its complete lines in bytes."""
        data, length = whole_lines(file, self.schema, self.max_bytes)
        if not data:
            return (), 0
        begun, rows = self.read(data)
        if begun != plan:
            raise self.error(
                Message(
                    "{given} holds the {what} of another plan; name another file, or remove it.",
                    given=brief(file.name),
                    what=self.what,
                )
            )
        return tuple(row for row in rows if not row.failure), length


def opened(path: Path, what: Message, error: type[DecodingError]) -> BinaryIO:
    """Return the file, open for reading and appending, with a write lock until it is closed.

    Args:
        what: kind of content in messages, such as `sweep`.
        error: class of the error to raise.

    Raises:
        error: it can't be opened, is no regular file, or another process is writing it.
    """
    try:
        file = path.open("a+b")
    except (OSError, ValueError) as found:
        reason = reason_of(found)
        raise error(
            Message(
                "The {what} {path} can't be opened: {reason}.",
                what=what,
                path=shown(path),
                reason=reason,
            )
        ) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise error(
            Message(
                "{path} can't hold the rows of the {what}; name an ordinary file.",
                path=shown(path),
                what=what,
            )
        )
    try:  # The system releases the lock even after a crash.
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
            Message(
                "Another {what} is writing {given}; wait for its end, or name another file.",
                what=what,
                given=brief(str(path)),
            )
        ) from None
    return file


def encoded_line(data: Any) -> bytes:
    """Return a JSON value as a line of a file."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write_line(file: BinaryIO, data: Any, what: Message, error: type[DecodingError]) -> None:
    """Append a line without a buffer, so that an error appears at once.

    Raises:
        error: the disk is full, or gone.
    """
    line = encoded_line(data)
    try:
        while line:
            line = line[os.write(file.fileno(), line) :]
    except OSError as found:
        raise error(
            Message(
                "The {what} {name} can't be written: {reason}; the rows before are "
                "kept, and the same command goes on behind them.",
                what=what,
                name=shown(file.name),
                reason=reason_of(found),
            )
        ) from None


def whole_lines(file: BinaryIO, schema: str, limit: int) -> tuple[bytes, int]:
    """Return the file's bytes and the length of its complete lines; 0 if no line is complete.

    An incomplete first line of this schema counts as an empty file. A file that begins otherwise
    has another schema, and its bytes are returned.
    """
    file.seek(0)
    data = file.read(limit + 1)
    length = data.rfind(b"\n") + 1
    start = json.dumps({"schema": schema}, separators=(",", ":")).encode()[:-1]
    if not length and (data.startswith(start) or start.startswith(data)):
        return b"", 0
    return data, length


def parsed_line(line: bytes, number: int, what: Message, error: type[DecodingError]) -> Any:
    """Return a line's JSON value; raise `error` if it is no JSON or holds too many values."""
    require_sparse(line, Message("line {number} of the {what}", number=number, what=what), error)
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise error(
            Message("Line {number} of the {what} is not JSON.", number=number, what=what)
        ) from None
