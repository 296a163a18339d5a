"""Read and write many runs of one prompt: a trace file a line; the file is untrusted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.decoding.errors import ConfigError, TraceError
from core.decoding.many.plan import require_single
from core.decoding.many.types import MAX_MANY, ManyRuns, sharing_prompt
from core.decoding.record.trace import Trace
from core.traces.bounded_file import bytes_of
from core.traces.file import MAX_BYTES, MAX_FILE_BYTES, read_trace


def many_jsonl(traces: Iterable[Trace]) -> str:
    """Return the text of the file."""
    return "".join(f"{trace.to_json()}\n" for trace in traces)


def read_many(source: bytes | str | Path) -> ManyRuns:
    """Validate and read the traces of one prompt in a file of JSON lines.

    Args:
        source: the file's bytes, or its path.

    Raises:
        TraceError: a line is no trace of one text that a method writes token by token, or there
            are too many lines; the message names the fault.
    """
    most = MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES
    rows = [row for row in bytes_of(source, most, "file of runs", TraceError).splitlines() if row]
    if len(rows) > MAX_MANY:
        raise TraceError(f"The file has {len(rows):,} lines, and holds {MAX_MANY} runs at most.")
    traces = list[Trace]()
    for row in rows:
        traces.append(sharing_prompt(read_trace(row), traces))
        try:
            require_single(traces[-1].config)
        except ConfigError as error:
            raise TraceError(str(error)) from None
    return ManyRuns(tuple(traces))
