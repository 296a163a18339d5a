"""Reading a trace file that anyone may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from core.decoding.errors import TraceError
from core.decoding.serial import SCHEMA, VERSION, trace_from_dict
from core.decoding.trace import Trace
from core.decoding.validation import brief
from core.traces.schema.trace import TraceFile

# Of bytes, which may be a stranger's, and of a file on one's own disk.
MAX_BYTES = 20_000_000
MAX_FILE_BYTES = 200_000_000
_LONGEST_FAULT = 200


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
    """The trace of a file that was parsed.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    return trace_from_dict(validated(data, TraceFile, SCHEMA, VERSION))


def parsed(source: bytes | str | Path, max_bytes: int | None = None) -> Any:
    """The JSON of a file that may be a stranger's.

    Raises:
        TraceError: it is too large, can't be opened, or is no JSON.
    """
    return _parsed(_bytes_of(source, max_bytes))


def _bytes_of(source: bytes | str | Path, max_bytes: int | None) -> bytes:
    if isinstance(source, bytes):
        limit = MAX_BYTES if max_bytes is None else max_bytes
        data = source
    else:
        limit = MAX_FILE_BYTES if max_bytes is None else max_bytes
        data = _file_bytes(source, limit)
    if len(data) > limit:
        raise TraceError(f"The trace file is larger than the {limit / 1e6:g} MB that are allowed.")
    return data


def _file_bytes(path: str | Path, limit: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except ValueError:
        reason = "that is no file name"
    name = str(path)
    shown = name if name.isprintable() and len(name) <= _LONGEST_FAULT else brief(name)
    raise TraceError(f"The trace file {shown} can't be opened: {reason}.")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise TraceError("The trace file is not UTF-8 text.") from None
    except (ValueError, RecursionError):
        raise TraceError("The trace file is not JSON; it may be cut off.") from None


def validated(data: Any, layout: type[BaseModel], schema: str, version: int) -> Any:
    """The same data, once they follow the layout.

    Raises:
        TraceError: another schema or version, or the first field that is wrong.
    """
    if not isinstance(data, dict) or data.get("schema") != schema:
        raise TraceError("This JSON is no trace file of Decoding Explorer: its schema differs.")
    found = data.get("version")
    if type(found) is not int or found != version:
        raise TraceError(
            f"The trace file has version {brief(found)}, this program reads version {version}."
        )
    try:
        layout.model_validate(data)
    except ValidationError as error:
        raise TraceError(_first_fault(error)) from None
    return data


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = _line(".".join(str(part) for part in fault["loc"]), 80) or "the top"
    what = _line(fault["msg"].removeprefix("Value error, "), _LONGEST_FAULT)
    more = error.error_count() - 1
    others = f" (and {more} more)" if more else ""
    return f"The trace file is invalid at {where}: {what}{others}."


def _line(text: str, limit: int) -> str:
    """Text that a stranger may have put something into, as part of one short line."""
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(char if char.isprintable() else "?" for char in cut)
