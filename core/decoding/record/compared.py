"""Tokens that a step compared by its method's own score."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from .bounds import Bounds, ByColumn, FiniteNumber, Prob, ShortText, TokenId

MAX_COMPARED = 64


class Compared(NamedTuple):
    """A compared token with its score.

    `prob` is its probability over the vocabulary after the stages before the choice; `penalty` is
    the method's penalty; the method's rule combines them to the `score`.
    """

    token_id: TokenId
    text: ShortText
    prob: Prob
    penalty: FiniteNumber
    score: FiniteNumber


# The token with the highest score is emitted; of equal scores, the first one.
ComparedTokens: TypeAlias = Annotated[
    tuple[Compared, ...], ByColumn(), Bounds(min_length=1, max_length=MAX_COMPARED)
]
