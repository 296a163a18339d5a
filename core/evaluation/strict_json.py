"""Plans and rows from JSON, validated field by field, and what every file of rows asks of them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.decoding.errors import ConfigError, DecodingError
from core.decoding.validation import shortened


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Pydantic's reader and writer of a type."""
    return TypeAdapter(kind)


def read_as(kind: Any, data: Any, error: type[DecodingError]) -> Any:
    """A value of a type from plain JSON values; raises `error` with the first fault."""
    try:
        return adapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as found:
        first = found.errors(include_url=False, include_input=False)[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            raise error(cause.plain) from None
        where = shortened(".".join(str(part) for part in first["loc"]), 80) or "the top"
        raise error(f"{where}: {shortened(first['msg'], 200)}.") from None


def rounded(value: Any) -> Any:
    """A number as files hold it, to 1e-6; anything else as it is."""
    return round(value, 6) if isinstance(value, float) else value


def require_runs(
    runs: Iterable[tuple[Hashable, bool]], what: str, error: type[DecodingError]
) -> None:
    """Raises `error`, with its line in a file, for a row that isn't its plan's, or is there twice.

    Args:
        runs: of each row what names its run, and whether the plan has such a run.
    """
    seen = set[Hashable]()
    for number, (place, planned) in enumerate(runs, start=2):
        if not planned or place in seen:
            raise error(f"Line {number} of the {what} is no run of its plan, or one again.")
        seen.add(place)
