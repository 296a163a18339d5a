"""How many random cases a test draws: a part of them in every run, all in `make fuzz`."""

from __future__ import annotations

import os

ALL = "FUZZ_CASES" in os.environ


def cases(every: int, part: int) -> int:
    """Of cases that differ in nothing but their dice.

    Args:
        every: how many `make fuzz` looks at.
        part: how many every run looks at, the first ones.
    """
    return every if ALL else part
