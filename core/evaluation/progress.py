"""Estimate the remaining time from the finished runs."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..language import Message


def time_left(clock: Callable[[], float] = monotonic) -> Callable[[int, int], str]:
    """Return a function that maps (finished runs, all runs) to the remaining time in words.

    Runs that were finished before its first call don't count for the speed.
    """
    started, first = clock(), list[int]()

    def words(ended: int, total: int) -> str:
        if not first:
            first.append(ended - 1)
        made = ended - first[0]
        seconds = (clock() - started) / made * (total - ended)
        if seconds < 90:
            return Message("about {seconds:.0f} s left", seconds=seconds)
        return Message("about {minutes:.0f} min left", minutes=seconds / 60)

    return words
