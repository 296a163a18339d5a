"""Values as plain JSON and back by the types of their fields: pydantic's `TypeAdapter`, strict."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.decoding.errors import ConfigError, DecodingError
from core.decoding.validation import shortened


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_json(value: Any) -> Any:
    """Return a dataclass as plain JSON values."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def read_as(kind: Any, data: Any, error: type[DecodingError]) -> Any:
    """Return the value of a type that plain JSON values stand for.

    Raises:
        error: the first fault; a setting's as the sentence that it is.
    """
    try:
        # From text, because in JSON a tuple is a list even where nothing is converted.
        return _adapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as invalid:
        fault = invalid.errors(include_url=False, include_input=False)[0]
        cause = fault.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            raise error(cause.plain) from None
        where = shortened(".".join(str(part) for part in fault["loc"]), 80) or "the top"
        raise error(f"{where}: {shortened(fault['msg'], 200)}.") from None


def rounded(value: Any) -> Any:
    """Return a number as files hold it, to 1e-6; anything else as it is."""
    return round(value, 6) if isinstance(value, float) else value
