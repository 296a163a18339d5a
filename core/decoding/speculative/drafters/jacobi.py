"""Jacobi iterations (Santilli et al. 2023): the target's own predictions of the last round are the
next draft.

Each round is an iteration over a window of guessed tokens. The window is filled up from a pool of
the bigrams that the iterations gave, as `lookahead` does with longer n-grams, which
it also gathers in the same forward.
"""

from __future__ import annotations

from functools import partial

from ...protocol import LanguageModel
from ..config import Speculative
from ..types import DraftRound
from .guesses import guess
from .text import TextDraft


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
