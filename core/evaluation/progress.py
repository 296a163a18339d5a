"""Estimate of the time that is left, from the runs that have ended."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


def time_left(clock: Callable[[], float] = monotonic) -> Callable[[int, int], str]:
    """Return a function from the runs that have ended and all runs to the time left in words.

    Runs that were there before its first call are not counted as made since.
    """
    started, first = clock(), list[int]()

    def words(ended: int, total: int) -> str:
        if not first:
            first.append(ended - 1)
        made = ended - first[0]
        seconds = (clock() - started) / made * (total - ended)
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        return f"about {seconds / 60:.0f} min left"

    return words
