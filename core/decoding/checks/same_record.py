"""A recorded step against the same step as the engine records it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

# They count tokens that rounding may move across a cut, so that one lies between others.
_COUNTS = ("kept", "rank")
# An error of a logit is relative in them.
_PROBABILITIES = ("prob", "probs", "threshold")
_LEAST = 1e-9


def difference(recorded: Any, again: Sequence[Any], slack: float, name: str = "") -> str:
    """The first field that is neither between the others' nor equal to one; empty for none.

    Args:
        recorded: a dataclass, a tuple, or what these hold; times are left out.
        again: the same, recorded over nearby rows.
        slack: by which a number that is not whole may lie outside of the others.
        name: of the field that holds it.
    """
    parts = dict(_parts(recorded))
    if parts or isinstance(recorded, tuple):
        alike = [own for one in again if (own := dict(_parts(one))).keys() == parts.keys()]
        for at, part in parts.items() if alike else ():
            inner = name if at.isdigit() else f"{name}.{at}".strip(".")
            if found := difference(part, [one[at] for one in alike], slack, inner):
                return found
        return "" if alike else name
    return "" if _fits(recorded, again, slack, name.rpartition(".")[2]) else name


def _fits(recorded: Any, again: Sequence[Any], slack: float, name: str) -> bool:
    numbers = [one for one in again if isinstance(one, int | float)]
    if name not in _COUNTS and float not in map(type, numbers):
        return recorded in again
    if not isinstance(recorded, int | float) or not numbers:
        return False
    allowed = 0.0 if name in _COUNTS else slack
    if name.endswith(_PROBABILITIES):
        allowed = min(slack, slack * max(map(abs, numbers)) + _LEAST)
    return min(numbers) - allowed <= recorded <= max(numbers) + allowed


def _parts(record: Any) -> Iterator[tuple[str, Any]]:
    """The named parts of a record, the numbered ones of a tuple; none of anything else."""
    if is_dataclass(record):
        names = [field.name for field in fields(record)]
    else:
        names = list(getattr(record, "_fields", ()))
    if names:
        yield from ((name, getattr(record, name)) for name in names if name != "seconds")
    elif isinstance(record, tuple):
        yield from ((str(at), part) for at, part in enumerate(record))
