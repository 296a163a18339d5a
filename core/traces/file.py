"""Reading a trace file that anyone may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.decoding.errors import TraceError
from core.decoding.record.trace import Trace
from core.decoding.serial import require_header
from core.traces.bounded_file import bytes_of, require_sparse
from core.traces.schema.trace import trace_layout

# Of bytes, which may be a stranger's, and of a file on one's own disk.
MAX_BYTES = 20_000_000
MAX_FILE_BYTES = 200_000_000


def read_trace(source: bytes | str | Path, *, max_bytes: int | None = None) -> Trace:
    """Validate and read a trace; nothing in it is executed.

    Args:
        source: the file's bytes, or its path.
        max_bytes: a larger file is refused unread; 200 MB of a path and 20 MB of bytes if not set.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    return trace_of(parsed(source, max_bytes))


def trace_of(data: Any) -> Trace:
    """Return the trace of a file that was parsed.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    require_header(data, Trace)
    return trace_layout().read(data)


def parsed(source: bytes | str | Path, max_bytes: int | None = None) -> Any:
    """Return the JSON of a file that may be a stranger's.

    Raises:
        TraceError: it is too large, can't be opened, or is no JSON.
    """
    if max_bytes is None:
        max_bytes = MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES
    data = bytes_of(source, max_bytes, "trace file", TraceError)
    require_sparse(data, "trace file", TraceError)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise TraceError("The trace file is not UTF-8 text.") from None
    except (ValueError, RecursionError):
        raise TraceError("The trace file is not JSON; it may be cut off.") from None
