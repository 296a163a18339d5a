"""A trace file read from data, and the sentence with which it is refused."""

import json

import pytest

from core import Trace, read_trace
from core.decoding.errors import TraceError


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
