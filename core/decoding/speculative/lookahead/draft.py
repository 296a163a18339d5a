"""Draft of lookahead decoding: n-grams that follow the last token, and the window beside them."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol import LanguageModel
from ..config import Speculative
from ..drafters.proposal import Noise, Proposal
from ..drafters.text import tree_proposal
from ..tree.paths import TokenTree, merged
from ..types import DraftRound
from .window import Levels, NgramPool, first_levels, moved, window_reach


def guesses(
    rounds: Sequence[DraftRound], ids: Sequence[int], config: Speculative, length: int
) -> TokenTree:
    """Return the n-grams that the rounds gathered after the last token, as a tree."""
    pool, emitted = NgramPool(config), sum(len(step.token_ids) for step in rounds)
    for step in rounds:
        if step.window is not None:
            pool.gather(ids[len(ids) - emitted + step.start - 1], step.window)
    return _tree(pool, ids[-1], length)


def _tree(pool: NgramPool, last_id: int, length: int) -> TokenTree:
    return merged(ngram[:length] for ngram in pool.after(last_id))


class LookaheadDraft:
    """Window and pool of one run."""

    prefill = 0.0

    def __init__(
        self, target: LanguageModel, prompt_ids: Sequence[int], config: Speculative
    ) -> None:
        self._target, self._prompt_ids, self._config = target, prompt_ids, config
        self._pool = NgramPool(config)
        self._levels: Levels = first_levels(prompt_ids, config)
        self._last_id = prompt_ids[-1]

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:  # noqa: ARG002 - nothing is drawn
        """Return the n-grams after the last token, and the window if its positions are left."""
        self._last_id = ids[-1]
        proposal = tree_proposal(_tree(self._pool, ids[-1], length), self._target.eos_ids, length)
        window = self._target.context_window
        if window is None or len(ids) + window_reach(self._config) <= window:
            proposal.window = self._levels
        return proposal

    def after(self, step: DraftRound) -> None:
        """Take in a finished round."""
        if step.window is not None:
            self._pool.gather(self._last_id, step.window)
            eos_ids = self._target.eos_ids
            self._levels = moved(step.window, self._prompt_ids, self._config, eos_ids)

    def keep(self, length: int) -> None:  # noqa: ARG002 - there is nothing to forget
        """Do nothing: there is no cache."""
        return

    def branch(self, config: Speculative) -> LookaheadDraft:
        """Return a draft for another run."""
        return LookaheadDraft(self._target, self._prompt_ids, config)
