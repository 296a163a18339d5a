"""Calls as rows to read: neighbours of one function are one row that opens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from core.traces.data_path.types import Call


class Row(NamedTuple):
    """One or more calls of a function that follow each other.

    Args:
        calls: at least one; a generator's first part stands apart from those that go on.
    """

    calls: tuple[Call, ...]

    @property
    def first(self) -> Call:
        """The one whose values stand for all."""
        return self.calls[0]

    @property
    def times(self) -> int:
        """How many they are."""
        return len(self.calls)

    @property
    def seconds(self) -> float:
        """Of all of them."""
        return sum(call.seconds for call in self.calls)

    def inside(self) -> list[Row]:
        """The rows inside the first call."""
        return fold(self.first.calls)


def fold(calls: Sequence[Call]) -> list[Row]:
    """Neighbours of the same function at the same place as one row each."""

    def same(call: Call) -> tuple[str, int, str, bool]:
        return call.file, call.line, call.function, call.resumed

    return [Row(tuple(group)) for _, group in groupby(calls, same)]
