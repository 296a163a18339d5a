"""Shapes of drafts: a chain is a tree in which each token has one child; torch-free.

Nodes are numbered level by level, and siblings in the order in which they are verified, so that the
parents of a draft never fall.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from ....language import Message

# At most so many nodes, as many as a chain may have; a width has at most two digits.
MAX_NODES = 64
_WIDTHS = re.compile(r"[1-9]\d?(,[1-9]\d?){0,63}", re.ASCII)


def widths_of(text: str) -> tuple[int, ...]:
    """Return the number of children of each node, level by level, from a text such as `3,2,1`.

    Raises:
        ValueError: the text is no list of widths, or the tree has more than `MAX_NODES` nodes.
    """
    compact = text.replace(" ", "")
    if not _WIDTHS.fullmatch(compact):
        raise ValueError(Message("must be widths from 1 to 99, separated by commas, such as 3,2,1"))
    widths = tuple(map(int, compact.split(",")))
    if (nodes := nodes_of(widths)) > MAX_NODES:
        raise ValueError(
            Message(
                "must give a tree of at most {most} nodes, this one has {nodes}",
                most=MAX_NODES,
                nodes=nodes,
            )
        )
    return widths


def nodes_of(widths: Sequence[int]) -> int:
    """Return the number of nodes of a whole tree."""
    return sum(accumulate(widths, lambda above, width: above * width))


def chain(length: int) -> tuple[int, ...]:
    """Return the parents of a chain."""
    return tuple(range(-1, length - 1))


def children_of(parents: Sequence[int]) -> dict[int, list[int]]:
    """Return each node's children in order; -1 has those of the first level."""
    children: dict[int, list[int]] = {node: [] for node in range(-1, len(parents))}
    for node, parent in enumerate(parents):
        children[parent].append(node)
    return children


def path_to(parents: Sequence[int], node: int) -> list[int]:
    """Return the nodes from the first level down to a node; empty for -1."""
    path: list[int] = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


def depths_of(parents: Sequence[int]) -> tuple[int, ...]:
    """Return the position of each node in the draft, from 0."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return tuple(depths)


def is_tree(parents: Sequence[int]) -> bool:
    """Return whether each parent comes before its node, and the nodes are in their order."""
    ordered = all(first <= second for first, second in pairwise(parents))
    return ordered and all(-1 <= parent < node for node, parent in enumerate(parents))


class PathEnd(NamedTuple):
    """End of the accepted path: its last node, -1 for none, and the outcome of its children."""

    node: int
    children: Literal["none", "rejected", "not_reached"]


def path_end(parents: Sequence[int], outcomes: Sequence[str]) -> PathEnd | None:
    """Return the end of the accepted path; None if the outcomes are those of no verification.

    Args:
        outcomes: `accepted`, `rejected` or `not_reached` for each node.
    """
    children, node, reached = children_of(parents), -1, 0
    while True:
        siblings = children[node]
        words = [outcomes[at] for at in siblings]
        rejected = words.index("accepted") if "accepted" in words else words.count("rejected")
        if words[:rejected] != ["rejected"] * rejected:
            return None
        reached += rejected + ("accepted" in words)
        if "accepted" in words:
            node = siblings[rejected]
            continue
        if 0 < rejected < len(siblings) or reached != len(outcomes) - outcomes.count("not_reached"):
            return None
        return PathEnd(node, "none" if not siblings else "rejected" if rejected else "not_reached")
