"""Forwards of a tree: one sequence with a tree attention mask, or a sequence for each node."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol, cast

import torch
from torch import Tensor

from ....language import Message
from ...errors import ModelError
from ...protocol import (
    Context,
    HiddenContext,
    LanguageModel,
    TakesTrees,
    TreeContext,
    offers,
)
from ..config import Speculative
from ..drafters.head import HeadState, started_head
from ..drafters.model import fit, room_after, started_context
from ..scoring import FedRow, tree_rows
from ..types import CacheSizes
from .drafting import TreeDraft


class TreeForward(Protocol):
    """A context that nodes of a tree follow."""

    @property
    def peak(self) -> int:
        """Largest number of tokens in a row since the last `keep`."""
        ...

    def extend(
        self,
        token_ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        """Append nodes; return the logits `[n, vocab]` after each.

        Args:
            parents: parents among all nodes since the last `keep`; -1 for none.
            hidden: takes the nodes' hidden states `[n, width]` in.
        """
        ...

    def keep(self, nodes: Sequence[int]) -> Context:
        """Return the context with at most this path, given by its nodes from the first one down."""
        ...


class MaskedTree:
    """Each node attends to its ancestors: one row, one forward."""

    def __init__(self, context: TreeContext) -> None:
        self._context = context

    @property
    def peak(self) -> int:
        return self._context.length

    def extend(
        self,
        token_ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        return self._context.extend_tree(token_ids, parents, hidden)

    def keep(self, nodes: Sequence[int]) -> Context:
        self._context.keep(nodes)
        return self._context


class ExpandedTree:
    """Each node is the end of a row of its own, which any context can score."""

    def __init__(self, context: Context) -> None:
        self._context, self.peak = context, context.length
        self._ids: list[int] = []
        self._parents: list[int] = []
        # The rows of the last forward, and the number of the first one's node.
        self._rows: tuple[Context, int] | None = None

    def extend(
        self,
        token_ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        first, cached = len(self._ids), self._context.length
        self._ids += token_ids
        self._parents += parents
        rows = tree_rows(cached, self._ids, self._parents, first)
        expanded = self._context.branch([0] * len(rows))
        ids = [row.token_ids for row in rows]
        if hidden is None:
            logits = expanded.extend(ids)
        else:
            logits, states = cast(HiddenContext, expanded).extend_both(ids)
            hidden.append(_of_nodes(states, rows))
        self._rows, self.peak = (expanded, first), max(self.peak, expanded.length)
        return _of_nodes(logits, rows)

    def keep(self, nodes: Sequence[int]) -> Context:
        """Keep the path if the last forward read its end, else nothing of the tree."""
        if self._rows is None or not nodes or nodes[-1] < self._rows[1]:
            return self._context
        expanded, first = self._rows
        expanded.reorder([nodes[-1] - first])
        expanded.rollback(expanded.length - self._context.length - len(nodes))
        return expanded


def _of_nodes(numbers: Tensor, rows: Sequence[FedRow]) -> Tensor:
    """Return each row's numbers after its node."""
    return torch.stack([numbers[at, row.reads[0]] for at, row in enumerate(rows)])


def tree_forward(model: LanguageModel, context: Context, config: Speculative) -> TreeForward:
    """Return the forward of a tree behind a context, as `scoring` says.

    Raises:
        ModelError: one sequence was asked for, and the model can't attend to a tree.
    """
    if config.scoring == "batch_expansion":
        return ExpandedTree(context)
    if not (offers(model, TakesTrees) and model.takes_trees):
        raise ModelError(
            Message(
                "{model} can't score a tree in one sequence (its layers take no attention "
                "mask, or keep a state): set scoring to batch_expansion, or draft a chain.",
                model=model.model_id,
            )
        )
    return MaskedTree(cast(TreeContext, context))


class ModelNodes:
    """Draft model as a `NodeSource`; its context holds the prompt without its last token."""

    def __init__(
        self, model: LanguageModel, context: Context, target: LanguageModel, config: Speculative
    ) -> None:
        self._model, self._context, self._config = model, context, config
        self._target, self._vocab_size = target, target.vocab_size
        self._forward = self._tree()
        self._before = self._held = context.length
        self.prefill = 0.0

    def branch(self, config: Speculative) -> ModelNodes:
        """Return a separate source for another run with the same prompt."""
        return ModelNodes(self._model, self._context.branch([0]), self._target, config)

    def _tree(self) -> TreeForward:
        return tree_forward(self._model, self._context, self._config)

    def room(self, length: int) -> int:
        return int(max(0, min(self._config.depth, room_after(self._model, length))))

    def read(self, ids: Sequence[int]) -> Tensor:
        logits = self._context.extend(ids[self._before :])[0, -1:]
        self._held = self._context.length
        self._forward = self._tree()
        return fit(logits, self._vocab_size)[0]

    def extend(self, token_ids: Sequence[int], parents: Sequence[int]) -> Tensor:
        return fit(self._forward.extend(token_ids, parents), self._vocab_size)

    def see(self, hidden: Tensor) -> None:
        raise NotImplementedError

    def keep(self, nodes: Sequence[int]) -> CacheSizes:
        peak = max(self._held, self._forward.peak)
        self._context = self._forward.keep(nodes)
        self._forward = self._tree()
        sizes = CacheSizes(self._before, peak, self._context.length)
        self._before = self._held = self._context.length
        return sizes


class HeadNodes(ModelNodes):
    """Head as a `NodeSource`: it reads each round's accepted tokens again, with the target's hidden
    states in place of its own.
    """

    def branch(self, config: Speculative) -> HeadNodes:
        """Return a separate source for another run with the same prompt."""
        return HeadNodes(self._model, self._context.branch([0]), self._target, config)

    def _tree(self) -> TreeForward:
        return MaskedTree(cast(TreeContext, self._context))

    def see(self, hidden: Tensor) -> None:
        """Take in the target's hidden states of the tokens that it has emitted, `[n, width]`."""
        cast(HeadState, self._context).see(hidden)

    def keep(self, nodes: Sequence[int]) -> CacheSizes:  # noqa: ARG002 - the head reads them again
        return super().keep([])


def start_tree(
    target: LanguageModel,
    draft: LanguageModel,
    prompt_ids: Sequence[int],
    config: Speculative,
) -> TreeDraft:
    """Return the draft of a run that drafts trees.

    Raises:
        ModelError: as `tree_forward`.
        PromptError: the prompt doesn't fit into the draft's context window.
    """
    started = perf_counter()
    started_of, kind = started_context, ModelNodes
    if config.source.reads_hidden:
        started_of, kind = started_head, HeadNodes
    nodes = kind(draft, started_of(draft, prompt_ids, config), target, config)
    nodes.prefill = perf_counter() - started
    return TreeDraft(nodes, target, config)
