"""Windows of a search's steps; without networkx, which the first paint doesn't need.

A node of the tree is `(step, place)`: a candidate by its place among the step's candidates. The
prompt's nodes, one for each group, are `(-1, group)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...decoding.beam.types import BeamStep

Node: TypeAlias = tuple[int, int]

MOST_NODES = 500


def window(steps: Sequence[BeamStep], first: int, span: int, *, pruned: bool) -> tuple[int, int]:
    """Return the drawn steps: `span` of them, or as many as `MOST_NODES` allows, at least one."""
    first = max(0, min(first, len(steps) - 1))
    last, nodes = first, len(steps[first].groups)
    while last < min(first + span, len(steps)):
        nodes += sum(pruned or c.fate != "pruned" for c in steps[last].candidates)
        if nodes > MOST_NODES and last > first:
            break
        last += 1
    return first, last


def windows(steps: Sequence[BeamStep], span: int, *, pruned: bool) -> Iterator[tuple[int, int]]:
    """Yield consecutive windows that hold all steps."""
    last = 0
    while last < len(steps):
        first, last = window(steps, last, span, pruned=pruned)
        yield first, last
