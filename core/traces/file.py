"""Read an untrusted trace file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..decoding.errors import TraceError
from ..decoding.record.trace import Trace
from ..decoding.record.tree import RunTree
from ..decoding.serial import require_header
from ..installation import COMMAND
from ..language import N_, Message
from .bounded_file import bytes_of, require_sparse
from .schema.trace import trace_layout

# Limits for uploaded bytes, and for a file on the user's disk.
MAX_BYTES = 20_000_000
MAX_FILE_BYTES = 200_000_000
_WHAT = Message("trace file")


def read_trace(source: bytes | str | Path, *, max_bytes: int | None = None) -> Trace:
    """Validate and read a trace; nothing in it is executed.

    Args:
        source: the file's bytes, or its path.
        max_bytes: limit, checked before reading; by default 200 MB for a path, 20 MB for bytes.

    Raises:
        TraceError: the file is invalid; the message names the fault.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> trace.save("run.json")
        >>> read_trace("run.json") == trace
        True
    """
    return trace_of(parsed(source, max_bytes))


def trace_of(data: Any) -> Trace:
    """Return the trace in a parsed file.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    if isinstance(data, dict) and data.get("schema") == RunTree.schema:
        raise TraceError(
            Message(
                "This file holds a tree of runs, not one run: open it on Decode, or "
                "with `{command} branch` or `{command} figure`.",
                command=COMMAND,
            )
        )
    require_header(data, Trace)
    return trace_layout().read(data)


def parsed(source: bytes | str | Path, max_bytes: int | None = None) -> Any:
    """Return the JSON in an untrusted file.

    Raises:
        TraceError: it is too large, can't be opened, or is no JSON.
    """
    if max_bytes is None:
        max_bytes = MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES
    data = bytes_of(source, max_bytes, _WHAT, TraceError)
    require_sparse(data, _WHAT, TraceError)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise TraceError(N_("The trace file is not UTF-8 text.")) from None
    except (ValueError, RecursionError):
        raise TraceError(N_("The trace file is not JSON; it may be cut off.")) from None
