"""Read an untrusted data path in the format of `export.as_json`."""

from __future__ import annotations

import math
from typing import Any

from ...decoding.errors import TraceError
from ...language import N_, Message
from .export import SCHEMA, VERSION
from .types import PHASES, DataPath, FunctionCall, ShownValue

# Limit on nested calls; the deepest recording, with a model's modules, has 30.
_DEEPEST = 100
_TEXTS = ("function", "file", "phase", "result")


def path_of(data: Any) -> DataPath:
    """Return the data path in a parsed file.

    Raises:
        TraceError: wrong schema or version, or a field is missing or invalid.
    """
    if not isinstance(data, dict) or (data.get("schema"), data.get("version")) != (SCHEMA, VERSION):
        raise TraceError(
            Message(
                "This is no data path of Decoding Explorer in version {version}.", version=VERSION
            )
        )
    calls, seconds = _calls(data.get("calls"), 0), _seconds(data.get("seconds"))
    left_out, began = data.get("left_out"), data.get("began_unix_nano")
    if type(left_out) is not int or type(began) is not int:
        raise _damaged()
    return DataPath(calls, seconds, left_out, began)


def _calls(data: Any, depth: int) -> tuple[FunctionCall, ...]:
    if not isinstance(data, list) or depth > _DEEPEST:
        raise _damaged()
    return tuple(_call(item, depth) for item in data)


def _call(data: Any, depth: int) -> FunctionCall:
    if not isinstance(data, dict):
        raise _damaged()
    texts = {name: data.get(name) for name in _TEXTS}
    line, resumed, arguments = (data.get(name) for name in ("line", "resumed", "arguments"))
    if not all(isinstance(text, str) for text in texts.values()) or texts["phase"] not in PHASES:
        raise _damaged()
    if (
        type(line) is not int
        or type(resumed) is not bool
        or not isinstance(arguments, dict)
        or not all(isinstance(text, str) for text in arguments.values())
    ):
        raise _damaged()
    return FunctionCall(
        **texts,  # type: ignore[arg-type]
        line=line,
        resumed=resumed,
        arguments=tuple(ShownValue(*item) for item in arguments.items()),
        start=_seconds(data.get("start")),
        seconds=_seconds(data.get("seconds")),
        calls=_calls(data.get("calls"), depth + 1),
    )


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise _damaged()
    return float(value)


def _damaged() -> TraceError:
    return TraceError(
        N_("The data path is damaged: a call in it lacks a field, or has a wrong value.")
    )
