"""Faults of a file's fields as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import ValidationError

from ...language import N_, Message
from ..errors import ConfigError
from ..validation import shortened

_LONGEST_FAULT = 200
# Kinds of pydantic's faults that a layout can have, in words that a catalogue can translate.
_WORDS = {
    "missing": N_("Field required"),
    "int_type": N_("Input should be a valid integer"),
    "int_from_float": N_("Input should be a valid integer, got a number with a fractional part"),
    "float_type": N_("Input should be a valid number"),
    "string_type": N_("Input should be a valid string"),
    "string_unicode": N_(
        "Input should be a valid string, unable to parse raw data as a unicode string"
    ),
    "bool_type": N_("Input should be a valid boolean"),
    "list_type": N_("Input should be a valid list"),
    "tuple_type": N_("Input should be a valid list"),
    "dict_type": N_("Input should be a valid dictionary"),
    "none_required": N_("Input should be None"),
    "finite_number": N_("Input should be a finite number"),
    "literal_error": N_("Input should be one of {expected}"),
    "greater_than_equal": N_("Input should be greater than or equal to {ge}"),
    "less_than_equal": N_("Input should be less than or equal to {le}"),
    "greater_than": N_("Input should be greater than {gt}"),
    "less_than": N_("Input should be less than {lt}"),
    "too_long": N_("A list holds at most {max_length} items here, this one has more"),
    "too_short": N_("A list holds at least {min_length} items here, this one has fewer"),
    "string_too_long": N_("A text has at most {max_length} characters here, this one has more"),
    "string_too_short": N_("A text has at least {min_length} characters here, this one has fewer"),
    "union_tag_invalid": N_("{tag} is no kind of it; the kinds are {expected_tags}"),
    "union_tag_not_found": N_("It lacks its kind"),
    "unexpected_keyword_argument": N_("Unexpected keyword argument"),
    "extra_forbidden": N_("Extra inputs are not permitted"),
}


def first_fault(error: ValidationError) -> Message:
    """Return the first fault of a trace file as a sentence."""
    fault = error.errors(include_url=False, include_input=False)[0]
    if isinstance(cause := cause_of(fault), ConfigError):
        return Message("The trace file's settings are invalid: {fault}", fault=cause.plain)
    more = error.error_count() - 1
    what = fault_words(fault)
    words = N_("The trace file is invalid at {where}: {fault}.")
    if more:
        words = N_("The trace file is invalid at {where}: {fault} (and {more} more).")
    elif what.endswith("."):
        words = N_("The trace file is invalid at {where}: {fault}")
    return Message(words, where=place_of_fault(fault), fault=what, more=more)


def cause_of(fault: Mapping[str, Any]) -> Exception | None:
    """Return the error of a rule or a codec that refused a value; None for a fault of its type."""
    cause: Exception | None = fault.get("ctx", {}).get("error")
    return cause


def place_of_fault(fault: Mapping[str, Any]) -> str:
    """Return the names of the fields down to a fault, which may be a stranger's text."""
    path = shortened(".".join(str(part) for part in fault["loc"]), 80)
    return path or Message("the top")


def fault_words(fault: Mapping[str, Any]) -> str:
    """Return what is wrong with a value; the words of a rule may be a whole sentence."""
    cause = cause_of(fault)
    if cause is not None and cause.args and isinstance(cause.args[0], str):
        text = Message(cause.args[0])
        return text if text.values or len(text) <= _LONGEST_FAULT else _cut(text)
    words = _WORDS.get(fault["type"])
    if words is None:
        return _cut(fault["msg"].removesuffix("."))
    values = {name: _value(value) for name, value in fault.get("ctx", {}).items()}
    if "expected" in values:
        # pydantic joins the names in English.
        values["expected"] = str(values["expected"]).replace(" or ", ", ")
    return Message(words, **values) if "{" in words else Message(words)


def _value(value: object) -> object:
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    return shortened(text, _LONGEST_FAULT)
