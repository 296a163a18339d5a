"""Parameters of a request's body: each is read by name, and unread ones are refused."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from ....decoding.methods import place_of
from ....decoding.record.bounds import MAX_COUNT
from ....decoding.validation import Interval, brief
from ..endpoints import ENDPOINTS, V1, Endpoint
from ..errors import ApiError, unsupported

MAX_TEXT = 1_000_000
_KINDS = {bool: "true or false", str: "a string", dict: "an object", list: "an array"}
NOT_HERE = "This server decodes text with one model and has nothing like it; leave it out."
# Of OpenAI's former names and llama.cpp's, the parameter that does the same.
_OTHERWISE = {
    "functions": "It is OpenAI's former name; give tools.",
    "function_call": "It is OpenAI's former name; give tool_choice.",
    "max_tool_calls": "It counts calls of OpenAI's own tools; parallel_tool_calls false allows one "
    "call.",
    "grammar": "Give structured_outputs with grammar.",
    "json_schema": "Give structured_outputs with json, or response_format.",
}
T = TypeVar("T")
D = TypeVar("D")
N = TypeVar("N", bound=float)


class Fields:
    """Members of a JSON object; null is the same as absent.

    Args:
        where: prefix of a name in errors, such as `reasoning.`.

    Raises (every reader):
        ApiError: a value of the wrong kind or outside its interval.
    """

    def __init__(self, data: Mapping[str, Any], where: str = "") -> None:
        self._data = {name: value for name, value in data.items() if value is not None}
        self._where = where
        self._read: set[str] = set()

    def label(self, name: str) -> str:
        """Return the name of a member in errors."""
        return self._where + name

    def has(self, name: str) -> bool:
        """Return True if a value is given."""
        return name in self._data

    def any(self, name: str) -> Any:
        """Return the value unchanged; None if it is absent."""
        self._read.add(name)
        return self._data.get(name)

    def text(self, name: str) -> str | None:
        return self._of(name, str, None)

    def required_text(self, name: str) -> str:
        text = self.text(name)
        if not text:
            raise self.wrong(name, "is missing: give a string that isn't empty")
        return text

    def flag(self, name: str, default: bool = False) -> bool:
        return self._of(name, bool, default)

    def items(self, name: str) -> list[Any]:
        return self._of(name, list, [])

    def object(self, name: str) -> dict[str, Any] | None:
        return self._of(name, dict, None)

    def token_ids(self, name: str) -> tuple[int, ...]:
        ids = self.items(name)
        if not all(map(is_token_id, ids)):
            raise self.wrong(name, "must be a list of token ids")
        return tuple(ids)

    def whole(self, name: str, interval: Interval) -> int | None:
        return self._number(name, interval, int, "a whole number")

    def number(self, name: str, interval: Interval | None) -> float | None:
        return self._number(name, interval, (float, int), "a number")

    def choice(self, name: str, allowed: Collection[str], default: str | None = None) -> str | None:
        value = self.any(name)
        if value is None:
            return default
        if value not in tuple(allowed):
            raise self.wrong(name, f"must be one of {', '.join(allowed)}, got {brief(value)}")
        return str(value)

    def inert(self, name: str, *values: Any) -> None:
        """Refuse a parameter unless it has one of the values that match the server's behaviour."""
        value = self.any(name)
        same = (isinstance(value, bool) == isinstance(v, bool) and value == v for v in values)
        if value is not None and not any(same):
            shown = " or ".join(dict.fromkeys(map(json.dumps, values)))
            why = (
                f"Only {shown} can be given here, got {brief(value)}{_hint(name)}."
                if values
                else NOT_HERE
            )
            raise unsupported(self._where + name, why)

    def finish(self, known: Collection[str]) -> None:
        """Refuse unread parameters.

        Args:
            known: names in OpenAI's API.
        """
        for name in sorted(self._data.keys() - self._read):
            other = "" if self._where else _OTHERWISE.get(name, "")
            if name in known or other:
                raise unsupported(self._where + name, other or NOT_HERE)
            raise ApiError(
                f"There is no parameter {brief(self._where + name)}{_hint(name)}.",
                param=self._where + name[:100],
                code="unknown_parameter",
            )

    def require_prompt(self, endpoint: Endpoint) -> None:
        """Raise ApiError for a body that belongs to another endpoint."""
        prompt = ENDPOINTS[endpoint].prompt
        for row in ENDPOINTS.values():
            if row.prompt in self._data and prompt not in self._data:
                raise self.wrong(prompt, f"is missing; {row.prompt} goes to {V1}{row.path}")

    def wrong(self, name: str, what: str) -> ApiError:
        """Return the error for an invalid value."""
        label = self.label(name)
        return ApiError(f"{label} {what}.", param=label, code="invalid_value")

    def _of(self, name: str, kind: type[T], default: D) -> T | D:
        value = self.any(name)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise self.wrong(name, f"must be {_KINDS[kind]}, got {brief(value)}")
        return value

    def _number(
        self,
        name: str,
        interval: Interval | None,
        kinds: type[N] | tuple[type[N], ...],
        called: str,
    ) -> N | None:
        value = self.any(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise self.wrong(name, f"must be {called}, got {brief(value)}")
        if interval is not None and not interval.holds(value):
            raise self.wrong(name, f"must lie in {interval.words}, got {brief(value)}")
        return value


def is_token_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_COUNT


def _hint(name: str) -> str:
    """Return a hint on where to put a misplaced setting; empty for an unknown name."""
    place = place_of(name)
    if place == "max_new_tokens":
        return "; the bound on new tokens is max_tokens"
    return f"; there is decoding.{place}" if place else ""
