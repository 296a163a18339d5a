"""Drawn part of a search's tree, and its steps in rows below each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import networkx as nx

from ...decoding.record.trace import Trace
from .columns import Columns, column_width, columns_of, node_width, rows_of
from .graph import BeamLayout, best_path, lay_out_beams, node_of, path_to
from .window import Node

# Distance of two rows of steps, in lanes; it has room for the steps' numbers.
_APART = 1.7


class Band(NamedTuple):
    """A row of steps: its nodes' positions, its columns, and the number of lanes above it."""

    layout: BeamLayout
    columns: Columns
    top: float


def part_of(tree: nx.DiGraph, trace: Trace, paths: int | None, beams: int | None) -> nx.DiGraph:
    """Return the tree with the best paths only, or with the first rows of the beam only."""
    if paths is None and beams is None:
        return tree
    ends: list[Node] = []
    if paths is not None:
        ends += [
            node_of(trace.beam_steps, hypothesis)
            for hypothesis in trace.hypotheses[: max(paths, 1)]
        ]
        ends = ends or [*best_path(tree, trace)[-1:]]
    else:
        ends += [node for beam in tree.graph["beams"] for node in beam[: max(beams or 1, 1)]]
    nodes = {node for end in ends for node in path_to(tree, end)}
    part = tree.subgraph(nodes).copy()
    part.graph["beams"] = [[node for node in beam if node in nodes] for beam in tree.graph["beams"]]
    return part


def stem_of(tree: nx.DiGraph, first: int, last: int) -> tuple[Node, ...]:
    """Return the nodes that all paths share, from the prompt up to the step before `last`."""
    beam = tree.graph["beams"][0]
    stem: list[Node] = []
    at = beam[0] if len(beam) == 1 else None
    while at is not None and len(stem) < last - 1:
        children = list(tree.successors(at))
        at = children[0] if len(children) == 1 else None
        stem += [at] if at is not None else []
    return tuple(stem) if len(stem) > max(first, 1) else ()


def bands_of(
    tree: nx.DiGraph,
    window: tuple[int, int],
    text: Callable[[Node], str],
    total: float,
    *,
    pruned: bool,
    best: Sequence[Node],
    selected: Node | None,
    stem: Collection[str] = (),
    aside: float = 0.0,
) -> list[Band]:
    """Return a window of steps in as many rows as a plotting area `total` px wide needs.

    Args:
        text: returns the text of a node.
        stem: lines of the box that stands for all steps before the window.
        aside: width of the numbers beside the tokens, px.
    """
    look = {"pruned": pruned, "best": best, "selected": selected}
    whole = lay_out_beams(tree, window, **look)  # type: ignore[arg-type]
    needed = _widths(whole, text, stem, aside)
    bands, at, top, layout = [], 0, 0.0, whole
    start: list[Node] = []
    for count in rows_of(needed, total, bool(stem), aside):
        part = (window[0] + at, window[0] + at + count)
        if part != window:
            layout = lay_out_beams(tree, part, start=start, **look)  # type: ignore[arg-type]
        boxed = stem if at == 0 else ()
        widths = needed if layout is whole else _widths(layout, text, boxed, aside)
        bands.append(Band(layout, columns_of(widths, total, bool(stem) and at == 0), top))
        top += layout.lanes + _APART
        at += count
        start = _last_beam(tree, layout)
    return bands


def _last_beam(tree: nx.DiGraph, layout: BeamLayout) -> list[Node]:
    """Return the beam after a row of steps, in the order of its nodes there."""
    going_on = set(tree.graph["beams"][layout.last])
    return [position.node for position in layout.positions if position.node in going_on]


def _widths(
    layout: BeamLayout, text: Callable[[Node], str], stem: Collection[str], aside: float
) -> list[float]:
    columns: list[list[str]] = [[] for _ in range(layout.columns)]
    for position in layout.positions:
        columns[position.column].append(text(position.node))
    numbered = {position.column for position in layout.positions if position.node[0] >= 0}
    widths = [column_width(column) + aside * (at in numbered) for at, column in enumerate(columns)]
    if stem:
        widths[0] = max(map(node_width, stem))
    return widths
