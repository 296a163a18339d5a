"""Guesses of Jacobi iterations, from the rounds so far; torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..config import Speculative
from ..rounds import positions_of
from ..types import DraftRound


class JacobiGuess(NamedTuple):
    """Guessed token.

    Args:
        origin: `predicted`: the target's prediction of the round before; `pool`: the second token
            of a bigram; `repeated`: the token before it.
    """

    token_id: int
    origin: Literal["predicted", "pool", "repeated"]


def guess(
    rounds: Sequence[DraftRound], ids: Sequence[int], _: Speculative, length: int
) -> list[int]:
    """Return the token ids of the next window."""
    return [one.token_id for one in window(rounds, ids, length)]


def window(rounds: Sequence[DraftRound], ids: Sequence[int], length: int) -> list[JacobiGuess]:
    """Return the next window: predictions after the last emitted token, then tokens of the pool.

    Without a bigram the last token is repeated, as the first window does.
    """
    pool, left = dict[int, int](), list[int]()
    for step in rounds:
        predicted = [candidates[0].token_id for candidates in positions_of(step) if candidates]
        drafted = [token.token_id for token in step.drafted]
        # The prediction at a position follows the guess before it.
        pool.update(zip(drafted, predicted[1:], strict=False))
        left = predicted[len(step.accepted) + 1 :]
    guesses = [JacobiGuess(token_id, "predicted") for token_id in left[:length]]
    while len(guesses) < length:
        last = guesses[-1].token_id if guesses else ids[-1]
        known = last in pool
        guesses.append(JacobiGuess(pool.get(last, last), "pool" if known else "repeated"))
    return guesses
