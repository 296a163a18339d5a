"""Convert values to plain JSON and back by their fields' types, with pydantic's strict mode."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..decoding.errors import ConfigError, DecodingError
from ..decoding.record.faults import cause_of, fault_words, place_of_fault
from ..language import Message


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_json(value: Any) -> Any:
    """Return a dataclass as plain JSON values."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def read_as(kind: Any, data: Any, error: type[DecodingError]) -> Any:
    """Return the value of a type from plain JSON values.

    Raises:
        error: the first fault; for a setting, the setting's own message.
    """
    try:
        # From text, since strict mode accepts a list as a tuple only in JSON.
        return _adapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as invalid:
        fault = invalid.errors(include_url=False, include_input=False)[0]
        if isinstance(cause := cause_of(fault), ConfigError):
            raise error(cause.plain) from None
        words = Message("{where}: {fault}.", where=place_of_fault(fault), fault=fault_words(fault))
        raise error(words) from None


def rounded(value: Any) -> Any:
    """Return a float rounded to 1e-6, as in files; anything else unchanged."""
    return round(value, 6) if isinstance(value, float) else value
