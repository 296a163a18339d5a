"""Comparison of a recorded step with the same step recorded again by the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

# Counts of tokens that rounding may move across a threshold: the value must lie between the others.
_COUNTS = ("kept", "rank")
# Their errors are relative: they stem from errors of logits.
_PROBABILITIES = ("prob", "probs", "threshold")
_LEAST = 1e-9


def difference(recorded: Any, again: Sequence[Any], slack: float, name: str = "") -> str:
    """Return the first field whose value is neither between the others' nor equal to one; empty if
    none.

    Args:
        recorded: a dataclass or tuple, or a value in one; times are ignored.
        again: the same values, recorded over nearby rows.
        slack: how far a non-integer may lie outside the interval of the others.
        name: name of the field.
    """
    parts = dict(_parts(recorded))
    if parts or isinstance(recorded, tuple):
        alike = [
            candidate
            for record in again
            if (candidate := dict(_parts(record))).keys() == parts.keys()
        ]
        for at, part in parts.items() if alike else ():
            inner = name if at.isdigit() else f"{name}.{at}".strip(".")
            if fault := difference(part, [record[at] for record in alike], slack, inner):
                return fault
        return "" if alike else name
    return "" if _fits(recorded, again, slack, name.rpartition(".")[2]) else name


def _fits(recorded: Any, again: Sequence[Any], slack: float, name: str) -> bool:
    numbers = [value for value in again if isinstance(value, int | float)]
    if name not in _COUNTS and float not in map(type, numbers):
        return recorded in again
    if not isinstance(recorded, int | float) or not numbers:
        return False
    allowed = 0.0 if name in _COUNTS else slack
    if name.endswith(_PROBABILITIES):
        allowed = min(slack, slack * max(map(abs, numbers)) + _LEAST)
    return min(numbers) - allowed <= recorded <= max(numbers) + allowed


def _parts(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield a record's parts by name, or a tuple's by number; nothing for other values."""
    if is_dataclass(record):
        names = [field.name for field in fields(record)]
    else:
        names = list(getattr(record, "_fields", ()))
    if names:
        yield from ((name, getattr(record, name)) for name in names if name != "seconds")
    elif isinstance(record, tuple):
        yield from ((str(at), part) for at, part in enumerate(record))
