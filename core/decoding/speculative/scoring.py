"""What each way of scoring feeds to the target: rows of token ids with their positions; torch-free.

The engine runs exactly these rows, and a page draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.decoding.speculative.config import Scoring


class FedRow(NamedTuple):
    """One sequence of the target's forward.

    Args:
        token_ids: fed now, padding at the end included.
        positions: of each in the sequence, from 0.
        cached: how many tokens of the sequence stand in the cache already.
        new: how many of `token_ids` are its own; those behind are padding, which fills the row to
            the length of the others and whose logits nobody reads.
        reads: the places in `token_ids` whose logits are read, as many as there are positions to
            score in all rows together.
    """

    token_ids: tuple[int, ...]
    positions: tuple[int, ...]
    cached: int
    new: int
    reads: tuple[int, ...]

    @property
    def length(self) -> int:
        """Tokens of the sequence, padding left out."""
        return self.cached + self.new


def feed(scoring: Scoring, cached: int, pending: int, drafted: Sequence[int]) -> tuple[FedRow, ...]:
    """The rows of one forward that scores `drafted` and the position behind it.

    Multi-query feeds one sequence and reads every position. Batch expansion feeds a sequence for
    every position and reads its last token; `pending`, the token that the target has emitted but
    not yet read, begins each.

    Args:
        cached: tokens that the target's cache holds.
    """
    ids = (pending, *drafted)
    positions = tuple(range(cached, cached + len(ids)))
    if scoring == "multi_query":
        return (FedRow(ids, positions, cached, len(ids), tuple(range(len(ids)))),)
    return tuple(
        FedRow(ids[:new] + (ids[new - 1],) * (len(ids) - new), positions, cached, new, (new - 1,))
        for new in range(1, len(ids) + 1)
    )
