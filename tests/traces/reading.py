"""A trace file read from data, and the sentence with which it is refused."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from core import Trace, read_trace
from core.decoding.errors import TraceError


def changed(data: Any, path: str, value: object) -> Any:
    """A copy with another value at a place, or with what a function makes of the value there."""
    target = copied = copy.deepcopy(data)
    *parents, last = [int(part) if part.lstrip("-").isdigit() else part for part in path.split(".")]
    for part in parents:
        target = target[part]
    target[last] = value(target[last]) if callable(value) else value
    return copied


def shorter(values: list[Any]) -> list[Any]:
    return values[:-1]


def assert_comes_back(trace: Trace, folder: Path) -> None:
    """The trace is written to a file, and both readers give it back."""
    trace.save(folder / "run.json")
    assert Trace.load(folder / "run.json") == read_trace(folder / "run.json") == trace


def read(data: object) -> Trace:
    return read_trace(json.dumps(data).encode())


def refusal(data: object) -> str:
    """One short printable sentence for a user, with no word of the code's own."""
    with pytest.raises(TraceError) as error:
        read(data)
    message = str(error.value)
    assert message.isprintable()
    assert len(message) < 400
    assert "Error" not in message
    return message
