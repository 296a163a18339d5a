"""Input of the target for each way of scoring: rows of token ids with positions; torch-free.

`feed` is what this engine runs, whose rows share no cache. `feed_paged` is what an engine with a
paged cache runs (vLLM): a page draws it, and says how much more this engine feeds.
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
        cached: how many tokens of the sequence are in the cache already.
        new: how many of `token_ids` are its own; those behind are padding, which fills the row to
            the length of the others and whose logits nobody reads.
        reads: the places in `token_ids` whose logits are read, as many as there are positions to
            score in all rows together.
        shared: how many tokens between the cached ones and `token_ids` other rows of the same
            forward feed; this row finds them in the cache that all share.
    """

    token_ids: tuple[int, ...]
    positions: tuple[int, ...]
    cached: int
    new: int
    reads: tuple[int, ...]
    shared: int = 0

    @property
    def length(self) -> int:
        """Tokens of the sequence, padding left out."""
        return self.cached + self.shared + self.new


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


def feed_paged(
    scoring: Scoring, cached: int, pending: int, drafted: Sequence[int]
) -> tuple[FedRow, ...]:
    """Input of a target with one paged cache: batch expansion feeds each sequence its last token.

    A layer writes the keys and values of all rows before it attends, so that a row finds what the
    others feed in the same forward. Source: vLLM's `BatchExpansionTop1Scorer`, one query token for
    each sequence.
    """
    if scoring == "multi_query":
        return feed(scoring, cached, pending, drafted)
    return tuple(
        FedRow((token_id,), (cached + place,), cached, 1, (0,), shared=place)
        for place, token_id in enumerate((pending, *drafted))
    )


def fed_again(cached: int, pending: int, drafted: Sequence[int]) -> str:
    """Ratio of the tokens that this engine feeds for batch expansion to those with a paged cache.

    Plain text; empty where nothing is drafted, which makes no difference.
    """
    if not drafted:
        return ""
    rows = feed("batch_expansion", cached, pending, drafted)
    new = sum(row.new for row in rows)
    padding = sum(len(row.token_ids) for row in rows) - new
    return (
        f"The figure shows sequences that share a paged cache, as vLLM's do: {len(rows)} tokens in "
        f"all. This engine's rows share none, so each is fed its drafted tokens anew: {new} tokens "
        f"and {padding} of padding, which the time measured here includes."
    )
