"""How long work that makes many runs still takes, told from those that have ended."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


def time_left(clock: Callable[[], float] = monotonic) -> Callable[[int, int], str]:
    """A function of how many runs have ended, and of how many, that says the time left in words.

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
