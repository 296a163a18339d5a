"""Draft by a rule on the text, without a model: every proposal has probability 1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ...protocol import LanguageModel
from ..config import Speculative
from ..distributions import Rows
from ..tree.paths import TokenTree
from ..tree.shape import depths_of
from .proposal import Noise, Proposal

Rule = Callable[[Sequence[int], Speculative, int], list[int]]
"""`rule(ids, config, length)`: at most `length` tokens that may follow `ids`."""


Tree = Callable[[Sequence[int], Speculative, int], TokenTree]
"""`tree(ids, config, length)`: the same as a tree of at most `length` levels."""


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
        return _without_draws(proposal)

    def keep(self, length: int) -> None:  # noqa: ARG002 - there is nothing to forget
        """Do nothing: there is no cache."""
        return

    def branch(self, config: Speculative) -> TextDraft:
        """Return a draft for another run."""
        return TextDraft(self._rule, self._target, config)


class TextTreeDraft:
    """A source of trees that depend on the text alone."""

    prefill = 0.0

    def __init__(self, tree: Tree, target: LanguageModel, config: Speculative) -> None:
        self._tree, self._target, self._config = tree, target, config

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:  # noqa: ARG002 - nothing is drawn
        """Return the rule's tree; nothing follows an end-of-sequence token in it."""
        return tree_proposal(self._tree(ids, self._config, length), self._target.eos_ids, length)

    def keep(self, length: int) -> None:  # noqa: ARG002 - there is nothing to forget
        """Do nothing: there is no cache."""
        return

    def branch(self, config: Speculative) -> TextTreeDraft:
        """Return a draft for another run."""
        return TextTreeDraft(self._tree, self._target, config)


def tree_proposal(tree: TokenTree, eos_ids: Collection[int], length: int) -> Proposal:
    """Return a tree of tokens of probability 1 as a proposal of at most `length` levels."""
    tree = tree.cut_after(eos_ids)
    reached = max(depths_of(tree.parents), default=-1) + 1
    return _without_draws(
        Proposal(
            token_ids=list(tree.token_ids),
            end="no_match" if reached < length else "length",
            parents=list(tree.parents),
        )
    )


def _without_draws(proposal: Proposal) -> Proposal:
    count = len(proposal.token_ids)
    proposal.rows = Rows(None, list(proposal.token_ids))
    proposal.uniforms, proposal.intervals = [None] * count, [None] * count
    return proposal
