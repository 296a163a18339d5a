"""A recorded step against the same step as the engine records it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

# They count tokens that rounding may move across a cut, so that one lies between others.
_COUNTS = ("kept", "rank")


def difference(recorded: Any, again: Sequence[Any], slack: float, name: str = "record") -> str:
    """The first field that is neither between the others' nor equal to one; empty for none.

    Args:
        recorded: a dataclass, a tuple, or what these hold; times are left out.
        again: the same, recorded over nearby rows.
        slack: by which a number that is not whole may lie outside of the others.
    """
    parts = dict(_parts(recorded))
    if parts or isinstance(recorded, tuple):
        alike = [own for one in again if (own := dict(_parts(one))).keys() == parts.keys()]
        if not alike:
            return name
        found = (
            difference(part, [one[at] for one in alike], slack, name if at.isdigit() else at)
            for at, part in parts.items()
        )
        return next(filter(None, found), "")
    numbers = [one for one in again if isinstance(one, int | float)]
    if isinstance(recorded, int | float) and (name in _COUNTS or float in map(type, numbers)):
        allowed = 0.0 if name in _COUNTS else slack
        fits = bool(numbers) and min(numbers) - allowed <= recorded <= max(numbers) + allowed
    else:
        fits = recorded in again
    return "" if fits else name


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
