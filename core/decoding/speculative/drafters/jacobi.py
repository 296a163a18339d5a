"""Jacobi iterations (Santilli et al. 2023): the target's own predictions of the last round are the
next draft.

Each round is an iteration over a window of guessed tokens. The window is filled up from a pool of
the bigrams that the iterations gave, as `lookahead` does with longer n-grams, which
it also gathers in the same forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from ...protocol import LanguageModel
from ..config import Speculative
from ..rounds import positions_of
from ..types import DraftRound
from .text import TextDraft


class Guess(NamedTuple):
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


def window(rounds: Sequence[DraftRound], ids: Sequence[int], length: int) -> list[Guess]:
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
    guesses = [Guess(token_id, "predicted") for token_id in left[:length]]
    while len(guesses) < length:
        last = guesses[-1].token_id if guesses else ids[-1]
        known = last in pool
        guesses.append(Guess(pool.get(last, last), "pool" if known else "repeated"))
    return guesses


class JacobiDraft(TextDraft):
    """A source that guesses from the rounds so far."""

    def __init__(self, target: LanguageModel, config: Speculative) -> None:
        self._rounds: list[DraftRound] = []
        super().__init__(partial(guess, self._rounds), target, config)

    def after(self, step: DraftRound) -> None:
        """Take in a finished round."""
        self._rounds.append(step)

    def branch(self, config: Speculative) -> JacobiDraft:
        """Return a draft for another run."""
        return JacobiDraft(self._target, config)
