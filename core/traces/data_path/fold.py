"""Fold repeated calls into rows that can be expanded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from .types import FunctionCall

# Largest number of calls in one round of a loop.
_LONGEST_ROUND = 8
_Function: TypeAlias = tuple[str, int, str, bool]


class FoldedRow(NamedTuple):
    """A call, or a loop: consecutive rounds of the same functions.

    Args:
        rounds: at least one, each with the same number of calls; the start of a generator and its
            resumption count as different functions.
    """

    rounds: tuple[tuple[FunctionCall, ...], ...]

    @property
    def first(self) -> FunctionCall:
        """First call, whose values represent all rounds."""
        return self.rounds[0][0]

    @property
    def times(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def seconds(self) -> float:
        """Total time of all rounds, in seconds."""
        return sum(call.seconds for calls in self.rounds for call in calls)

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions in a round."""
        return tuple(call.function for call in self.rounds[0])

    def inside(self, at: int = 0) -> list[FoldedRow]:
        """Return the rows inside a round: inside its call, or its calls if there are several."""
        calls = self.rounds[at]
        return (
            fold(calls[0].calls) if len(calls) == 1 else [FoldedRow(((call,),)) for call in calls]
        )


def fold(calls: Sequence[FunctionCall]) -> list[FoldedRow]:
    """Return the calls as rows, one row for each loop; prefer the loop that covers most calls."""
    names = [(call.file, call.line, call.function, call.resumed) for call in calls]
    rows: list[FoldedRow] = []
    at = 0
    while at < len(calls):
        size, times = _rounds(names, at)
        ends = range(at, at + size * times, size)
        rows.append(FoldedRow(tuple(tuple(calls[start : start + size]) for start in ends)))
        at += size * times
    return rows


def _rounds(names: Sequence[_Function], at: int) -> tuple[int, int]:
    """Return the number of calls in a round that starts here, and the number of rounds."""
    best = (1, 1)
    for size in range(1, _LONGEST_ROUND + 1):
        first, times = names[at : at + size], 1
        if len(set(first)) == 1 < size:
            continue  # This is a round of one call, repeated.
        while names[at + size * times : at + size * (times + 1)] == first:
            times += 1
        if times > 1 and size * times > best[0] * best[1]:
            best = (size, times)
    return best
