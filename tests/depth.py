"""Assign tests to every `make test`, to `make test-all`, or to `make fuzz` alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable

import pytest
from _pytest.mark import ParameterSet

ALL = "FUZZ_CASES" in os.environ
# Tests of what `.ci/deep` names, whose change asks for `make test-all`, and how many cases of each
# function `make test` looks at.
_DEEP = ("tests/decoding/", "tests/models/", "tests/training/")
_CASES = 2


def cases(every: int, part: int) -> int:
    """Return the number of cases that differ only in their random numbers.

    Args:
        every: how many `make fuzz` looks at.
        part: how many every run looks at, the first ones.
    """
    return every if ALL else part


def slow(*case: object) -> ParameterSet:
    """A case that `make test-all` looks at."""
    return pytest.param(*case, marks=pytest.mark.slow)


def mostly_slow(names: Iterable[str], often: Container[str]) -> list[ParameterSet]:
    """Names as parameters of which `make test` takes those that stand for a kind.

    Args:
        names: of all cases.
        often: those that every run looks at.
    """
    return [
        pytest.param(name, id=name, marks=() if name in often else pytest.mark.slow)
        for name in names
    ]


def leave_to_test_all(items: Iterable[pytest.Item]) -> None:
    """Mark the engine's further cases as slow: all but the first ones of each function."""
    seen = Counter[str]()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if function.startswith(_DEEP) and not item.get_closest_marker("slow"):
            seen[function] += 1
            if seen[function] > _CASES:
                item.add_marker(pytest.mark.slow)
