"""Read the runs in an untrusted file of JSON lines: traces, or answers of other tools."""

from __future__ import annotations

from pathlib import Path

from ..decoding.errors import TraceError
from ..decoding.record.trace import Trace
from ..language import N_, Message
from .bounded_file import bytes_of
from .file import MAX_BYTES, MAX_FILE_BYTES, read_trace
from .foreign import answers_in
from .foreign_trace import from_answer

MAX_LINES = 10_000


def read_lines(source: bytes | str | Path) -> tuple[Trace, ...]:
    """Return the runs in a file of JSON lines, in their order.

    A line is a trace (`core many --jsonl`) or another tool's answer. The chunks of one streamed
    answer are one run, and so are the questions of a samples file.

    Args:
        source: the file's bytes, or its path.

    Raises:
        TraceError: a line is neither, or there are too many; the message names the line.
    """
    most = MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES
    data = bytes_of(source, most, Message("file of runs"), TraceError)
    rows = [row for row in data.splitlines() if row.strip()]
    if not rows:
        raise TraceError(N_("The file of runs is empty."))
    if len(rows) > MAX_LINES:
        raise TraceError(
            Message(
                "The file has {rows:,} lines, and {max_lines:,} at most are read.",
                rows=len(rows),
                max_lines=MAX_LINES,
            )
        )
    if b'"schema"' not in rows[0]:
        answers = answers_in(data)
        if len(answers) == 1:
            return (from_answer(answers[0]),)
        return tuple(_read(at, row, False) for at, row in enumerate(answers, start=1))
    return tuple(_read(at, row, True) for at, row in enumerate(rows, start=1))


def _read(at: int, row: bytes, is_trace: bool) -> Trace:
    try:
        return read_trace(row) if is_trace else from_answer(row)
    except TraceError as error:
        raise TraceError(f"Line {at}: {error}") from None
