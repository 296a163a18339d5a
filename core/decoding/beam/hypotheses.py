"""Finished hypotheses and the stopping rule of a beam search; no torch.

Rules and float32 arithmetic are those of transformers 5.23 (`_update_finished_beams`,
`_check_early_stop_heuristic`), so that a search and its replay from a trace decide alike.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

EarlyStopping: TypeAlias = bool | Literal["never"]
StopReason: TypeAlias = Literal["enough", "no_better", "no_row"]
Item = TypeVar("Item")

# transformers' score of places without a hypothesis and of dead rows; a score near it marks no
# hypothesis.
NOTHING = -1e9


def float32(value: float) -> float:
    """Return the nearest float32."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return NOTHING if value < 0 else -NOTHING
    return rounded


def score_of(sum_logprob: float, length: int, length_penalty: float) -> float:
    """Return `sum_logprob / length ** length_penalty` in float32 (Wu et al. 2016 in transformers'
    form).

    Args:
        length: number of generated tokens, the ending one included.
    """
    return float32(float32(sum_logprob) / float32(length**length_penalty))


class FinishedPath(NamedTuple, Generic[Item]):
    """A held finished path, with an item by which the caller identifies it."""

    score: float
    item: Item


class BeamHypotheses(Generic[Item]):
    """The best `size` finished hypotheses of one group, and the rule that stops its search.

    Args:
        size: number of beams of the group.
        limit: maximum number of tokens of a hypothesis; used by `early_stopping="never"`.
    """

    def __init__(
        self, size: int, length_penalty: float, early_stopping: EarlyStopping, limit: int
    ) -> None:
        self._size = size
        self._length_penalty = length_penalty
        self._early_stopping = early_stopping
        self._limit = limit
        self.entries: list[FinishedPath[Item]] = []

    def add(self, finished: Sequence[tuple[float, Item]], length: int) -> None:
        """Add this step's finished paths `(sum_logprob, item)` and drop the worst."""
        scored = [(score_of(total, length, self._length_penalty), item) for total, item in finished]
        entries = [*self.entries, *(FinishedPath(*pair) for pair in scored if pair[0] > NOTHING)]
        # The sort is stable: of two equal scores the older one stays.
        self.entries = sorted(entries, key=lambda entry: -entry.score)[: self._size]

    def stop_reason(self, best_running: float | None, length: int) -> StopReason | None:
        """Return the reason to stop after a step with paths of `length` tokens; None to go on.

        Args:
            best_running: the highest `cum_logprob` in the next beam; None if it has no rows.
        """
        if best_running is None:
            return "no_row"
        full = len(self.entries) == self._size
        if full and self._early_stopping is True:
            return "enough"
        ahead = self._early_stopping == "never" and self._length_penalty > 0
        reach = self._limit if ahead else length
        best_possible = score_of(best_running, reach, self._length_penalty)
        worst = self.entries[-1].score if full else NOTHING
        return None if best_possible > worst else "no_better"
