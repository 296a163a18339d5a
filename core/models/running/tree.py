"""Attention mask and positions of a tree of tokens: each token sees its ancestors only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import torch

from .cache import GrowingCache


class TreeInput(NamedTuple):
    """New tokens of a tree, as a forward takes them.

    Args:
        positions: position of each new token in its sequence.
        seen: `[new, all]`, True where a new token attends to a token of the cache or of the input.
        distance: `[new, all]`, difference of their positions.
    """

    positions: torch.Tensor
    seen: torch.Tensor
    distance: torch.Tensor

    def within(self, window: int | None) -> torch.Tensor:
        """Return `seen` in a layer whose sliding window holds so many tokens; None for no bound."""
        return self.seen if window is None else self.seen & (self.distance < window)


def tree_input(line: int, parents: Sequence[int], first: int, device: torch.device) -> TreeInput:
    """Return the input for the nodes from `first` on.

    Args:
        line: number of tokens before the tree, which every node sees.
        parents: parent of each node; -1 for a node that follows the last of these tokens.
    """
    count = len(parents)
    among = torch.eye(count, dtype=torch.bool)
    places = list(range(line))
    for node, parent in enumerate(parents):
        if parent >= 0:
            among[node] |= among[parent]
        places.append(places[line + parent] + 1 if parent >= 0 else line)
    seen = torch.cat((torch.ones(count, line, dtype=torch.bool), among), dim=1)[first:]
    positions = torch.tensor(places)
    new = positions[line + first :]
    distance = new[:, None] - positions[None]
    return TreeInput(new.to(device), seen.to(device), distance.to(device))


def attention_masks(
    tree: TreeInput, layer_types: Sequence[str], model: Any
) -> torch.Tensor | Mapping[str, torch.Tensor]:
    """Return the `[1, 1, new, all]` mask that transformers adds to the attention scores, by kind of
    layer if the kinds differ.
    """
    window = getattr(model.config.get_text_config(decoder=True), "sliding_window", None)
    kinds = sorted({*layer_types} - {"dummy"})
    masks = {}
    for kind in kinds:
        seen = tree.within(window if kind == "sliding_attention" else None)
        mask = torch.zeros(seen.shape, dtype=model.dtype, device=seen.device)
        masks[kind] = mask.masked_fill_(~seen, torch.finfo(model.dtype).min)[None, None]
    return masks if len(kinds) > 1 else masks[kinds[0]]


def require_path(parents: Sequence[int], nodes: Sequence[int]) -> None:
    """Raise ValueError unless the nodes lead from the tree's beginning downwards."""
    before = -1
    for node in nodes:
        if not 0 <= node < len(parents) or parents[node] != before:
            raise ValueError(f"The nodes {list(nodes)} are no path of the tree {list(parents)}.")
        before = node


class TreeForwardFunction(Protocol):
    """A `ForwardFunction` that takes a tree of tokens; contexts of a `TakesTrees` have one."""

    def __call__(
        self,
        ids: torch.Tensor,
        cache: GrowingCache | None,
        keep: int,
        hidden: list[torch.Tensor] | None,
        tree: TreeInput,
    ) -> torch.Tensor:
        """Args: `tree` has the positions of the new tokens, and the tokens that they see."""
        ...
