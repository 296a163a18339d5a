"""Trees of drafted tokens: static by widths, or dynamic by joint draft probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ...protocol import LanguageModel
from ...shaping.draws import place_by_uniform
from ..config import Speculative
from ..distributions import Rows, join, require_distributions, shaper_of
from ..drafters.proposal import Noise, Proposal
from ..types import CacheSizes, DraftEnd
from .shape import nodes_of, path_to
from .verifying import without


class NodeSource(Protocol):
    """A draft's predictions after the nodes of a tree."""

    prefill: float
    """Seconds that the prompt took."""

    def room(self, length: int) -> int:
        """Return the number of positions that can be drafted after a text of `length` tokens."""
        ...

    def read(self, ids: Sequence[int]) -> Tensor:
        """Begin a round after `ids`; return the logits `[vocab]` after them."""
        ...

    def extend(self, token_ids: Sequence[int], parents: Sequence[int]) -> Tensor:
        """Append nodes; return the logits `[n, vocab]` after each.

        Args:
            parents: parents among all nodes of the round that were appended; -1 for none.
        """
        ...

    def see(self, hidden: Tensor) -> None:
        """Take in the target's hidden states `[n, width]` of the emitted tokens that it has read;
        only a head needs them.
        """
        ...

    def keep(self, nodes: Sequence[int]) -> CacheSizes | None:
        """End a round with the path that was accepted; return the round's cache sizes."""
        ...

    def branch(self, config: Speculative) -> NodeSource:
        """Return a separate source for another run with the same prompt, before either has
        started.
        """
        ...


class Child(NamedTuple):
    """A candidate for a node's child.

    Args:
        row: distribution from which it was chosen, one row.
        prob: the draft's probability of the token, which ranks the nodes of a dynamic tree.
    """

    token_id: int
    row: Rows
    prob: float
    uniform: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(slots=True)
class _Node:
    parent: int
    child: Child
    joint: float
    logits: Tensor
    # Its number in the source; -1 if the source never read it.
    source: int = -1


@dataclass(slots=True)
class _Level:
    """Nodes that may have children: their numbers, -1 for the root, with the logits after each."""

    nodes: list[int] = field(default_factory=lambda: [-1])
    logits: Tensor = field(default_factory=lambda: torch.empty(0))


class TreeDraft:
    """Draft of a tree for one run."""

    def __init__(self, source: NodeSource, target: LanguageModel, config: Speculative) -> None:
        self._source, self._config = source, config
        self._target, self._eos_ids = target, target.eos_ids
        self._shaper = shaper_of(target, config, config.draft_shaping)
        self.prefill = source.prefill
        self._nodes: list[_Node] = []

    def branch(self, config: Speculative) -> TreeDraft:
        """Return a separate draft for another run with the same prompt, before either has
        started.
        """
        return TreeDraft(self._source.branch(config), self._target, config)

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:
        """Return a tree of at most `length` levels after `ids`, of which the last `index` are
        generated.
        """
        self._nodes = []
        depth = max(0, min(length, self._source.room(len(ids))))
        level, read = _Level(), 0
        if depth:
            level.logits = self._source.read(ids)[None]
        for position in range(depth):
            first = len(self._nodes)
            self._grow(level, [*ids], index, position, noise)
            if self._config.tree_nodes:
                first = self._prune(first)
            if position + 1 < depth:
                level = self._next(first, read)
                read += len(level.nodes)
                if not level.nodes:
                    break
        end: DraftEnd = "room" if depth < length else "length"
        return self._proposal("no_token" if depth and not self._nodes else end)

    def _grow(self, level: _Level, ids: list[int], index: int, position: int, noise: Noise) -> None:
        """Add the children of a level's nodes."""
        paths = [path_to([n.parent for n in self._nodes], node) for node in level.nodes]
        histories = [[*ids, *(self._nodes[n].child.token_id for n in path)] for path in paths]
        indexes = [index + position] * len(histories)
        shaped = self._shaper.rows(level.logits, histories, indexes)
        if not bool(torch.isfinite(shaped.amax(-1)).all()):
            require_distributions(level.logits)
        if self._config.draft_draws:
            for row, node in enumerate(level.nodes):
                for child in self._drawn(shaped[row], self._config.widths[position], noise):
                    self._add(node, child, level.logits[row])
            return
        count = self._config.tree_nodes or self._config.widths[position]
        likeliest = [_likeliest(row, count) for row in shaped]
        least = self._least(level.nodes, likeliest) if self._config.tree_nodes else 0.0
        for row, node in enumerate(level.nodes):
            for token_id, prob in likeliest[row]:
                if self._joint(node) * prob >= least:
                    child = Child(token_id, Rows(None, [token_id]), prob)
                    self._add(node, child, level.logits[row])

    def _least(self, nodes: list[int], likeliest: list[list[tuple[int, float]]]) -> float:
        """Return the least joint probability of a node that `_prune` can keep.

        Most children of a large tree lie below it: they never become objects.
        """
        joints = [node.joint for node in self._nodes]
        for node, children in zip(nodes, likeliest, strict=True):
            before = self._joint(node)
            joints += [before * prob for _, prob in children]
        return min(nlargest(self._config.tree_nodes, joints), default=0.0)

    def _joint(self, node: int) -> float:
        return 1.0 if node < 0 else self._nodes[node].joint

    def _add(self, parent: int, child: Child, logits: Tensor) -> None:
        self._nodes.append(_Node(parent, child, self._joint(parent) * child.prob, logits))

    def _drawn(self, shaped: Tensor, count: int, noise: Noise) -> list[Child]:
        """Draw a node's children."""
        probs = shaped.softmax(-1).nan_to_num(nan=0.0)
        children: list[Child] = []
        while len(children) < count and bool(probs.any()):
            uniform = noise(1)[0]
            token_id, interval = place_by_uniform(probs, uniform)
            row = Rows(probs[None], [])
            children.append(Child(token_id, row, float(probs[token_id]), uniform, interval))
            if self._config.tree_picks == "without_replacement":
                probs = without(probs, token_id)
        return children

    def _prune(self, first: int) -> int:
        """Keep the likeliest nodes, of which the last level's begin at `first`; return where these
        begin then.
        """
        # A parent is never less likely than its child, and comes before it.
        order = sorted(range(len(self._nodes)), key=lambda at: -self._nodes[at].joint)
        kept = sorted(order[: self._config.tree_nodes])
        places = {-1: -1} | {old: new for new, old in enumerate(kept)}
        nodes = [self._nodes[at] for at in kept]
        for node in nodes:
            node.parent = places[node.parent]
        self._nodes = nodes
        return sum(at < first for at in kept)

    def _next(self, first: int, read: int) -> _Level:
        """Return the nodes from `first` on that may have children; the source reads them.

        Args:
            read: number of nodes that the source has read.
        """
        level = _Level([at for at in range(first, len(self._nodes)) if self._goes_on(at)])
        if level.nodes:
            parents = [self._nodes[at].parent for at in level.nodes]
            level.logits = self._source.extend(
                [self._nodes[at].child.token_id for at in level.nodes],
                [-1 if parent < 0 else self._nodes[parent].source for parent in parents],
            )
            for place, at in enumerate(level.nodes):
                self._nodes[at].source = read + place
        return level

    def _goes_on(self, at: int) -> bool:
        node, threshold = self._nodes[at], self._config.draft_threshold
        if node.child.token_id in self._eos_ids:
            return False
        return threshold <= 0 or float(node.logits.softmax(-1)[node.child.token_id]) >= threshold

    def _proposal(self, end: DraftEnd) -> Proposal:
        nodes = self._nodes
        return Proposal(
            token_ids=[node.child.token_id for node in nodes],
            rows=join([node.child.row for node in nodes]),
            logits=[node.logits for node in nodes],
            uniforms=[node.child.uniform for node in nodes],
            intervals=[node.child.interval for node in nodes],
            end=end,
            parents=[node.parent for node in nodes],
        )

    def see(self, hidden: Tensor) -> None:
        """Give a head the target's hidden states of the tokens that it has emitted."""
        self._source.see(hidden)

    def keep(self, path: Sequence[int]) -> CacheSizes | None:
        """Forget the tree but for an accepted path; return this round's cache sizes."""
        read = [self._nodes[at].source for at in path]
        return self._source.keep([node for node in read if node >= 0])


def _likeliest(shaped: Tensor, count: int) -> list[tuple[int, float]]:
    """Return the most probable tokens of a row with their probabilities."""
    probs = shaped.softmax(-1).nan_to_num(nan=0.0)
    values, places = probs.topk(min(count, int((probs > 0).sum())))
    return list(zip(places.tolist(), values.tolist(), strict=True))


def most_nodes(config: Speculative) -> int:
    """Return the largest number of nodes of a round's tree."""
    if config.source.looks_ahead:
        return config.lookahead_guesses * config.draft_length
    return config.tree_nodes or nodes_of(config.widths)
