"""The text of a child process's error as JSON, and back, so that it can still be translated."""

from __future__ import annotations

import re
from typing import Any

from ...language import Message, Plural

# A child that reads a stranger's file is not trusted: its templates have plain fields only.
_FIELD = re.compile(r"\{[a-z_]+(?::,?(?:\.\d)?[a-z%]?)?\}")


def as_json(text: object) -> Any:
    """Return a message with its template and values, or a plain value."""
    if isinstance(text, Message):
        parts: dict[str, Any] = {"template": text.template, "values": _each(text.values)}
        if isinstance(text, Plural):
            parts |= {"many": text.many, "count": text.number}
        return parts
    return text if isinstance(text, int | float | str) else str(text)


def from_json(parts: Any) -> Any:
    """Return the message or the value that `as_json` has written.

    Raises:
        ValueError: a template has a field that is no plain one.
        LookupError, TypeError, AttributeError: the parts are no message.
    """
    if not isinstance(parts, dict):
        return parts
    template, many = parts["template"], parts.get("many", "")
    values = {name: from_json(value) for name, value in parts["values"].items()}
    if values and any(mark in _FIELD.sub("", f"{template}{many}") for mark in "{}"):
        raise ValueError(template)
    if many:
        values.pop("count", None)  # A plural writes it by itself.
        return Plural(template, many, parts["count"], **values)
    return Message(template, **values)


def _each(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: as_json(value.args[0] if isinstance(value, BaseException) and value.args else value)
        for name, value in values.items()
    }
