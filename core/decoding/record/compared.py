"""Tokens that a step compared by its method's own score."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from core.decoding.record.bounds import Bounds, ByColumn, FiniteNumber, Prob, ShortText, TokenId

MAX_COMPARED = 64


class Compared(NamedTuple):
    """A token with its score.

    `prob` is over the vocabulary, after the stages before the choice; `penalty` is what the method
    holds against the token; how they make the `score` is the method's own rule.
    """

    token_id: TokenId
    text: ShortText
    prob: Prob
    penalty: FiniteNumber
    score: FiniteNumber


# The first of the highest scores is emitted.
ComparedTokens: TypeAlias = Annotated[
    tuple[Compared, ...], ByColumn(), Bounds(min_length=1, max_length=MAX_COMPARED)
]
