"""Calls as rows to read: what repeats is one row that opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from core.traces.data_path.types import FunctionCall

# So many calls at most are one round of a loop.
_LONGEST_ROUND = 8
_Function: TypeAlias = tuple[str, int, str, bool]


class FoldedRow(NamedTuple):
    """A call, or a loop: rounds of the same functions that follow each other.

    Args:
        rounds: at least one, each of as many calls; a generator's first part is another function
            than what goes on.
    """

    rounds: tuple[tuple[FunctionCall, ...], ...]

    @property
    def first(self) -> FunctionCall:
        """The one whose values stand for all."""
        return self.rounds[0][0]

    @property
    def times(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def seconds(self) -> float:
        """Total of all rounds."""
        return sum(call.seconds for calls in self.rounds for call in calls)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of a round's functions."""
        return tuple(call.function for call in self.rounds[0])

    def inside(self, at: int = 0) -> list[FoldedRow]:
        """The rows inside a round: those inside its call, or its calls where it has several."""
        calls = self.rounds[at]
        return (
            fold(calls[0].calls) if len(calls) == 1 else [FoldedRow(((call,),)) for call in calls]
        )


def fold(calls: Sequence[FunctionCall]) -> list[FoldedRow]:
    """Return repetitions as one row each, by the longest stretch that one round makes."""
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
    """Return the calls in a round that begins here, and the number of rounds."""
    best = (1, 1)
    for size in range(1, _LONGEST_ROUND + 1):
        first, times = names[at : at + size], 1
        if len(set(first)) == 1 < size:
            continue  # A round of one, twice.
        while names[at + size * times : at + size * (times + 1)] == first:
            times += 1
        if times > 1 and size * times > best[0] * best[1]:
            best = (size, times)
    return best
