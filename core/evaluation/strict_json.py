"""Convert values to plain JSON and back by their fields' types, with pydantic's strict mode."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..decoding.errors import ConfigError, DecodingError
from ..decoding.validation import shortened


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
        cause = fault.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            raise error(cause.plain) from None
        where = shortened(".".join(str(part) for part in fault["loc"]), 80) or "the top"
        raise error(f"{where}: {shortened(fault['msg'], 200)}.") from None


def rounded(value: Any) -> Any:
    """Return a float rounded to 1e-6, as in files; anything else unchanged."""
    return round(value, 6) if isinstance(value, float) else value
