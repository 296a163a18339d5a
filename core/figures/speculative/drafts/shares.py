"""Accepted shares of groups of drafted tokens, with their intervals."""

from __future__ import annotations

from collections.abc import Iterable

from ....evaluation.scoring.intervals import wilson_by_group
from ....evaluation.types import Share
from ....language import tr
from ...base.labels import NBSP

# Below this number of tokens a share is said to be one of few.
FEW = 10


def share_of(trials: Iterable[tuple[int, bool]]) -> Share:
    """Return the accepted share, from each token's round and result.

    Tokens of one round are not independent: the interval is over rounds.
    """
    return wilson_by_group(trials)


def is_few(share: Share) -> bool:
    """Return whether a share is of too few tokens to conclude from."""
    return share.total < FEW


def counts_words(share: Share) -> str:
    """Return a share's counts, and that they are few where they are."""
    if is_few(share):
        return tr("{hits:,} of {total:,}: few", hits=share.hits, total=share.total)
    return tr("{hits:,} of {total:,}", hits=share.hits, total=share.total)


def interval_words(share: Share) -> str:
    """Return a share with its interval."""
    return tr(
        "{share:g}{nbsp}% accepted, 95{nbsp}% interval {low:.0f} to {high:.0f}{nbsp}%",
        share=share.percent,
        low=100 * share.low,
        high=100 * share.high,
        nbsp=NBSP,
    )
