"""Translatable texts as JSON, for the process that parses untrusted files.

That process may be under control of a file, so a template is taken only if it is declared, or if
it puts values in as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...language import Message, Plural, in_every_language

# Without attributes, conversions and widths, which could ask for gigabytes.
_PLAIN = re.compile(r"(?:[^{}]|\{[a-z_]+\})*")
_DEEPEST = 20


def packed(text: Any) -> Any:
    """Return a text, or a value of one, as JSON values."""
    if isinstance(text, BaseException):
        return packed(text.args[0] if len(text.args) == 1 else str(text))
    if type(text) not in (Message, Plural):
        return text if type(text) in (int, float) else str(text)
    values = {name: packed(value) for name, value in text.values.items()}
    form = {"many": text.many, "number": text.number} if isinstance(text, Plural) else {}
    return {"text": str(text), "template": text.template, "values": values, **form}


def unpacked(value: Any, deep: int = 0) -> str:
    """Return the text of JSON values: a `Message`, or its English text where it can't be one."""
    if not isinstance(value, Mapping):
        return str(value)
    text, values = str(value.get("text")), value.get("values")
    template: Any
    many: Any
    number: Any
    template, many, number = (value.get(name) for name in ("template", "many", "number"))
    several = type(number) is int
    forms = (template, many) if several else (template,)
    if deep > _DEEPEST or not isinstance(values, Mapping) or not all(map(_is_taken, forms)):
        return text
    parts: dict[str, Any] = {
        name: part if type(part) in (int, float) else unpacked(part, deep + 1)
        for name, part in values.items()
        if not (several and name == "count")
    }
    try:
        message = Plural(template, many, number, **parts) if several else Message(template, **parts)
    except (TypeError, ValueError, LookupError, AttributeError):
        return text
    return message if message == text else text


def _is_taken(template: Any) -> bool:
    """Return whether a template may be filled with values."""
    if not isinstance(template, str) or _PLAIN.fullmatch(template):
        return isinstance(template, str)
    return any(text != template for text in in_every_language(template))
