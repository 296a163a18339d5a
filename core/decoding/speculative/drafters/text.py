"""Draft by a rule on the text, without a model: every proposal has probability 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...protocol import LanguageModel
from ..config import Speculative
from ..distributions import Rows
from .proposal import Noise, Proposal

Rule = Callable[[Sequence[int], Speculative, int], list[int]]
"""`rule(ids, config, length)`: at most `length` tokens that may follow `ids`."""


class TextDraft:
    """A source whose proposals depend on the text alone."""

    prefill = 0.0

    def __init__(self, rule: Rule, target: LanguageModel, config: Speculative) -> None:
        self._rule, self._target, self._config = rule, target, config

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:  # noqa: ARG002 - nothing is drawn
        """Return the rule's tokens, up to the first end-of-sequence token."""
        continuation = self._rule(ids, self._config, length)
        proposal = Proposal(end="no_match" if len(continuation) < length else "length")
        for token_id in continuation:
            proposal.token_ids.append(token_id)
            if token_id in self._target.eos_ids:
                proposal.end = "eos"
                break
        count = len(proposal.token_ids)
        proposal.rows = Rows(None, list(proposal.token_ids))
        proposal.uniforms, proposal.intervals = [None] * count, [None] * count
        return proposal

    def keep(self, length: int) -> None:  # noqa: ARG002 - there is nothing to forget
        """Do nothing: there is no cache."""
        return

    def branch(self, config: Speculative) -> TextDraft:
        """Return a draft for another run."""
        return TextDraft(self._rule, self._target, config)
