"""Texts for people: steps, rounds and positions counted from 1, and times.

Indices in code, in trace files and in click data begin at 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..language import N_, Message, Plural


def nth(index: int) -> int:
    """Return the number, from 1, for an index."""
    return index + 1


def place_of(what: str, index: int, count: int) -> Message:
    """Return the place of one item among several, such as "Step 7 of 40".

    `make messages` finds the names in the calls.
    """
    template = f"{what} {{nth}} of {{count}}"
    return Message(template, nth=nth(index), count=f"{count:,}")


def at_step(index: int, fault: str) -> Message:
    """Return a declared text about a step, such as "step 7: a text is missing"."""
    return Message("step {step}: {text}", step=nth(index), text=Message(fault))


def at_round(index: int, fault: str) -> Message:
    """Return a declared text about a round, such as "round 7: a text is missing"."""
    return Message("round {round}: {text}", round=nth(index), text=Message(fault))


def span_of(what: str, first: int, last: int, count: int) -> Message:
    """Return the place of a range of items, such as "Steps 1 to 40 of 163".

    Args:
        first, last: index of the first item, and index after the last item.
    """
    if last - first <= 1:
        return place_of(what.removesuffix("s"), first, count)
    ends = {"first": nth(first), "last": last, "count": f"{count:,}"}
    template = f"{what} {{first}} to {{last}} of {{count}}"
    return Message(template, **ends)


def span_key(unit: str, first: int, last: int | None = None) -> str:
    """Return a range of items for a file name, such as `step-7` or `steps-1-to-40`.

    Args:
        first, last: index of the first `unit`, and index after the last one.
    """
    if last is None or last - first <= 1:
        return f"{unit}-{nth(first)}"
    return f"{unit}s-{nth(first)}-to-{last}"


def listed(parts: Iterable[str], template: str = N_("{one}, {other}")) -> Message:
    """Return declared texts as one text; a template joins two of them."""
    return reduce(lambda one, other: Message(template, one=one, other=other), map(Message, parts))


def sentences(*parts: str) -> Message:
    """Return those of the sentences that aren't empty as one text."""
    return listed([*filter(None, parts)] or [""], N_("{one} {other}"))


def counted(count: int, thing: str) -> Plural:
    """Return "1 token" or "2 tokens"; `make messages` finds both in the calls."""
    one = f"{{count}} {thing}"
    return Plural(one, f"{one}s", count)


def duration(seconds: float) -> str:
    """Return a duration with three digits, such as "1.25 ms", "312 ms" or "8.64 s"."""
    value, unit = (seconds, "s") if seconds >= 0.9995 else (1000 * seconds, "ms")
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} {unit}"
