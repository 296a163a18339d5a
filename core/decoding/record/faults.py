"""Faults of a trace file as sentences."""

from __future__ import annotations

from pydantic_core import ValidationError

from ...language import N_, Message
from ..errors import ConfigError
from ..validation import shortened

_LONGEST_FAULT = 200


def first_fault(error: ValidationError) -> Message:
    """Return the first fault of a trace file as a sentence."""
    fault = error.errors(include_url=False, include_input=False)[0]
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):
        return Message("The trace file's settings are invalid: {fault}", fault=cause.plain)
    where = shortened(".".join(str(part) for part in fault["loc"]), 80) or "the top"
    message = fault["msg"].removeprefix("Value error, ").removesuffix(".")
    what = shortened(message.replace("Tuple", "List").replace("tuple", "list"), _LONGEST_FAULT)
    more = error.error_count() - 1
    words = N_("The trace file is invalid at {where}: {fault}.")
    if more:
        words = N_("The trace file is invalid at {where}: {fault} (and {more} more).")
    return Message(words, where=where, fault=what, more=more)
