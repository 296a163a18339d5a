"""Read and write many runs of one prompt: a trace file a line; the file is untrusted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..decoding.errors import ConfigError, TraceError
from ..decoding.many.plan import require_single
from ..decoding.many.types import MAX_MANY, ManyRuns, sharing_prompt
from ..decoding.record.trace import Trace
from ..language import Message
from .bounded_file import bytes_of
from .file import MAX_BYTES, MAX_FILE_BYTES, read_trace


def many_jsonl(traces: Iterable[Trace]) -> str:
    """Return the text of the file."""
    return "".join(f"{trace.to_json()}\n" for trace in traces)


def read_many(source: bytes | str | Path) -> ManyRuns:
    """Read as `read_runs`, and refuse runs that don't write one text, a token at a time."""
    return _require_single(_read(source))


def read_runs(source: bytes | str | Path) -> ManyRuns:
    """Validate and read the traces of one prompt in a file of JSON lines.

    Args:
        source: the file's bytes, or its path.

    Raises:
        TraceError: a line is no trace, there are too many lines, or all runs are of one method that
            doesn't write one text, a token at a time; the message names the fault.
    """
    many = _read(source)
    return many if many.has_searches else _require_single(many)


def _require_single(many: ManyRuns) -> ManyRuns:
    try:
        for trace in many.traces:
            require_single(trace.config)
    except ConfigError as error:
        raise TraceError(error.args[0]) from None
    return many


def _read(source: bytes | str | Path) -> ManyRuns:
    most = MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES
    data = bytes_of(source, most, Message("file of runs"), TraceError)
    rows = [row for row in data.splitlines() if row]
    if len(rows) > MAX_MANY:
        raise TraceError(
            Message(
                "The file has {rows:,} lines, and holds {max_many} runs at most.",
                rows=len(rows),
                max_many=MAX_MANY,
            )
        )
    traces = list[Trace]()
    for row in rows:
        traces.append(sharing_prompt(read_trace(row), traces))
    return ManyRuns(tuple(traces))
