"""Tree of a beam search from its stored backpointers, and the layout of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import networkx as nx

from ...decoding.beam.types import BeamCandidate, BeamStep, Hypothesis
from ...decoding.record.trace import Trace
from .window import MOST_NODES, Node

# Height of a node, and how strongly it is pulled to its parent's height.
_SIZES = {"pruned": 0.72}
_PULL = {"best": 8.0, "kept": 1.0, "finished": 0.6, "pruned": 0.12, "prompt": 1.0}


def beam_graph(steps: Sequence[BeamStep]) -> nx.DiGraph:
    """Return a graph with every candidate as a node and every stored backpointer as an edge from
    parent to child.

    A node holds `candidate` (None for the prompt), `kind`: `prompt` or the candidate's fate, and
    `forced`: whether the constraint allowed its token alone.
    `graph["beams"]` holds the nodes of each step's beam by row, including the beam after the last
    step.
    """
    tree = nx.DiGraph()
    beam: list[Node] = [(-1, group) for group in range(len(steps[0].groups) if steps else 1)]
    tree.add_nodes_from(beam, candidate=None, kind="prompt", forced=False)
    beams = [beam]
    for at, step in enumerate(steps):
        rows: dict[int, Node] = {}
        for place, candidate in enumerate(step.candidates):
            node = (at, place)
            tree.add_node(
                node, candidate=candidate, kind=candidate.fate, forced=_forced(step, candidate)
            )
            tree.add_edge(beam[candidate.parent], node)
            if candidate.row is not None:
                rows[candidate.row] = node
        beam = [rows[row] for row in sorted(rows)]
        beams.append(beam)
    tree.graph["beams"] = beams
    return tree


def _forced(step: BeamStep, candidate: BeamCandidate) -> bool:
    return bool(step.masks) and step.masks[candidate.parent].allowed == 1


def parent_of(tree: nx.DiGraph, node: Node) -> Node | None:
    """Return the parent of a node; None for the prompt."""
    return next(iter(tree.predecessors(node)), None)


def path_to(tree: nx.DiGraph, node: Node) -> tuple[Node, ...]:
    """Return the path from the prompt to a node, both included."""
    path = [node]
    while (parent := parent_of(tree, path[-1])) is not None:
        path.append(parent)
    return tuple(reversed(path))


def node_of(steps: Sequence[BeamStep], hypothesis: Hypothesis) -> Node:
    """Return the node at which a hypothesis ends."""
    at = len(hypothesis.token_ids) - 1
    last = (hypothesis.parents[-1], hypothesis.token_ids[-1])
    places = ((c.parent, c.token_id) for c in steps[at].candidates)
    return at, next(place for place, ids in enumerate(places) if ids == last)


def best_path(tree: nx.DiGraph, trace: Trace) -> tuple[Node, ...]:
    """Return the path from the prompt to the best hypothesis, or to the most probable row of an
    unfinished search.
    """
    steps = trace.beam_steps
    if trace.hypotheses:
        return path_to(tree, node_of(steps, trace.hypotheses[0]))
    if not steps or not steps[-1].kept:
        return ()
    best = max(steps[-1].kept, key=lambda candidate: candidate.cum_logprob)
    return path_to(tree, (len(steps) - 1, steps[-1].candidates.index(best)))


class NodePosition(NamedTuple):
    """Position of a node; column 0 is the beam before the window, followed by the window's
    steps.
    """

    node: Node
    column: int
    lane: float


@dataclass(frozen=True, slots=True)
class BeamLayout:
    """Positions of the nodes in a window of steps.

    Args:
        positions: positions column by column, from top to bottom.
        lanes: number of lanes of the fullest column; a pruned node takes less than one.
        first, last: first step of the window, and the step after its last.
        left_out: number of pruned nodes without room.
    """

    positions: tuple[NodePosition, ...]
    lanes: float
    first: int
    last: int
    left_out: int = 0

    @property
    def columns(self) -> int:
        """Number of drawn columns, including the one before the window."""
        return self.last - self.first + 1


def lay_out_beams(
    tree: nx.DiGraph,
    window: tuple[int, int],
    *,
    pruned: bool,
    best: Sequence[Node] = (),
    selected: Node | None = None,
    start: Sequence[Node] = (),
) -> BeamLayout:
    """Lay out rows in the order of their parents, so that no two edges cross, each node near its
    parent.

    Args:
        window: first step, and the step after the last.
        pruned: whether to place pruned nodes too; otherwise only `selected`.
        best: nodes that stay at one height if possible.
        start: drawn order of the beam before the window; by default its own order.
    """
    first, last = window
    columns = [list(start) or tree.graph["beams"][first]]
    for _ in range(first, last):
        columns.append(_next_column(tree, columns[-1], pruned, selected))
    left_out = 0
    if last - first == 1:
        columns[1], left_out = _thinned(tree, columns[1], MOST_NODES - len(columns[0]), selected)
    sizes = [[_SIZES.get(tree.nodes[node]["kind"], 1.0) for node in column] for column in columns]
    lanes = max(map(sum, sizes))
    placed: dict[Node, float] = {}
    positions = []
    for at, column in enumerate(columns):
        middle = (lanes - 1) / 2
        parents = [placed[parent_of(tree, node)] if at else middle for node in column]  # type: ignore[index]
        pulls = [_PULL["best" if node in best else tree.nodes[node]["kind"]] for node in column]
        heights = _spread(parents, pulls, sizes[at], lanes)
        placed.update(zip(column, heights, strict=True))
        positions += [
            NodePosition(node, at, lane) for node, lane in zip(column, heights, strict=True)
        ]
    return BeamLayout(tuple(positions), lanes, first, last, left_out)


def _next_column(
    tree: nx.DiGraph, before: Sequence[Node], pruned: bool, selected: Node | None
) -> list[Node]:
    """Return the children of a column, ordered by their parent's place, then by rank."""
    children = []
    for at, parent in enumerate(before):
        for child in tree.successors(parent):
            if pruned or child == selected or tree.nodes[child]["kind"] != "pruned":
                children.append((at, tree.nodes[child]["candidate"].rank, child))
    return [child for *_, child in sorted(children)]


def _thinned(
    tree: nx.DiGraph, column: list[Node], room: int, selected: Node | None
) -> tuple[list[Node], int]:
    """Return a column without its last pruned nodes if it alone is too large, and the number
    removed.
    """
    pruned = [n for n in column if tree.nodes[n]["kind"] == "pruned" and n != selected]
    pruned.sort(key=lambda node: tree.nodes[node]["candidate"].rank)
    out = set(pruned[max(room - (len(column) - len(pruned)), 0) :])
    return [node for node in column if node not in out], len(out)


def _spread(
    wanted: Sequence[float], pulls: Sequence[float], sizes: Sequence[float], lanes: float
) -> list[float]:
    """Return heights in the given order without overlap, as near to the wanted ones as possible.

    The method is weighted least squares: neighbours that would overlap are pooled (isotonic
    regression).
    """
    offsets = [sum(sizes[:at]) + size / 2 - 0.5 for at, size in enumerate(sizes)]
    pools: list[tuple[float, float, int]] = []
    for height, pull, offset in zip(wanted, pulls, offsets, strict=True):
        mean, weight, count = height - offset, pull, 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight)
            weight, count = weight + heavy, count + many
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    room = lanes - sum(sizes)
    return [
        round(min(max(mean, 0.0), room) + offset, 3)
        for mean, offset in zip(means, offsets, strict=True)
    ]
