"""Several runs of one text merged into one tree of tokens, laid out in lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import NamedTuple

import networkx as nx

from core.decoding.lab.types import RowToken

# All that the lab grows at once: 12 continuations and the greedy one, of 40 tokens each.
MOST_NODES = 13 * 40


class Lane(NamedTuple):
    """A run in the tree.

    Args:
        framed: its steps that are framed.
        strong: its name stands out.
        place: that a click on its cells hands over.
    """

    name: str
    tokens: tuple[RowToken, ...]
    framed: Set[int] = frozenset()
    strong: bool = False
    place: int = 0

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


class TreeCell(NamedTuple):
    """A node of the tree as a cell: tokens that some rows share, from one step to another.

    Args:
        depth: step of its first token, from 0.
        lane: the first of the `lanes` rows that go through it.
        tokens: one, or a run of several without a branch.
        parent: place of the cell before it; None at the root.
    """

    depth: int
    lane: int
    lanes: int
    tokens: tuple[RowToken, ...]
    parent: int | None

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def prob(self) -> float:
        """The geometric mean of the model's own probabilities."""
        probs = [token.raw_prob for token in self.tokens]
        if min(probs) <= 0:
            return 0.0
        return math.exp(sum(map(math.log, probs)) / len(probs))


class TreeLayout(NamedTuple):
    """Cells by depth, the rows by lane, and how many steps are drawn of how many."""

    cells: tuple[TreeCell, ...]
    lanes: tuple[Lane, ...]
    steps: int
    all_steps: int


def merged(rows: Sequence[Lane]) -> nx.DiGraph:
    """Merge the rows into a tree: node 0 is the root (no token), and each edge adds one token.

    Each node has its `token`, `depth` (of the token, from 0) and `rows` (indices of the rows that
    pass through it).
    """
    tree = nx.DiGraph()
    tree.add_node(0, token=None, depth=-1, rows=[])
    for place, row in enumerate(rows):
        at = 0
        tree.nodes[0]["rows"].append(place)
        for depth, token in enumerate(row.tokens):
            node = _child(tree, at, token.token_id)
            if node is None:
                node = len(tree)
                tree.add_node(node, token=token, depth=depth, rows=[])
                tree.add_edge(at, node)
            tree.nodes[node]["rows"].append(place)
            at = node
    return tree


def _child(tree: nx.DiGraph, node: int, token_id: int) -> int | None:
    """The node that a token leads to, if a row went there before."""
    after = (n for n in tree.successors(node) if tree.nodes[n]["token"].token_id == token_id)
    return next(after, None)


def lay_out_tree(rows: Sequence[Lane], *, fold: bool = True) -> TreeLayout:
    """Lanes for the rows so that those that share a beginning lie together, and a cell a node.

    Args:
        fold: draw a run of tokens without a branch as one cell.
    """
    longest = max((len(row.tokens) for row in rows), default=0)
    tree = merged(rows)
    steps = _drawn_steps(tree, longest)
    lanes = _lanes(tree)
    cells: list[TreeCell] = []
    _add_cells(tree, 0, None, lanes, steps, fold, cells)
    order = sorted(range(len(rows)), key=lanes.__getitem__)
    return TreeLayout(tuple(cells), tuple(rows[place] for place in order), steps, longest)


def _drawn_steps(tree: nx.DiGraph, longest: int) -> int:
    """Number of steps that draw at most `MOST_NODES` nodes."""
    depths = [tree.nodes[node]["depth"] for node in tree if node]
    steps = longest
    while steps > 1 and sum(depth < steps for depth in depths) > MOST_NODES:
        steps -= 1
    return steps


def _lanes(tree: nx.DiGraph) -> dict[int, int]:
    """A lane for each row: depth first, the branch of most rows first, ended rows before it."""
    lanes: dict[int, int] = {}

    def weight(node: int) -> tuple[int, int]:
        rows = tree.nodes[node]["rows"]
        return -len(rows), rows[0]

    def visit(node: int) -> None:
        children = sorted(tree.successors(node), key=weight)
        going = {place for child in children for place in tree.nodes[child]["rows"]}
        for place in tree.nodes[node]["rows"]:
            if place not in going:
                lanes[place] = len(lanes)
        for child in children:
            visit(child)

    visit(0)
    return lanes


def _add_cells(
    tree: nx.DiGraph,
    node: int,
    parent: int | None,
    lanes: dict[int, int],
    steps: int,
    fold: bool,
    cells: list[TreeCell],
) -> None:
    """Append the cells of a node's children, and theirs."""
    for child in tree.successors(node):
        node_data = tree.nodes[child]
        if node_data["depth"] >= steps:
            continue
        run, last = [node_data["token"]], child
        while fold and (after := _only_child(tree, last)) is not None:
            if tree.nodes[after]["depth"] >= steps:
                break
            run.append(tree.nodes[after]["token"])
            last = after
        cells.append(
            TreeCell(
                node_data["depth"],
                min(lanes[place] for place in node_data["rows"]),
                len(node_data["rows"]),
                tuple(run),
                parent,
            )
        )
        _add_cells(tree, last, len(cells) - 1, lanes, steps, fold, cells)


def _only_child(tree: nx.DiGraph, node: int) -> int | None:
    """The next node where no row ends and none branches off."""
    children = list(tree.successors(node))
    if len(children) != 1:
        return None
    same = len(tree.nodes[children[0]]["rows"]) == len(tree.nodes[node]["rows"])
    return children[0] if same else None
