"""Tree of tokens that merges several runs of one text, laid out in lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from ...decoding.lab.types import RowToken

# Maximum that the lab grows at once: 12 continuations and the greedy one, with 40 tokens each.
MOST_NODES = 13 * 40


class Lane(NamedTuple):
    """A run in the tree.

    Args:
        framed: its framed steps.
        strong: whether its name is highlighted.
        place: value that a click on its cells hands over.
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
    """A node of the tree as a cell: tokens that some rows share, over one or more steps.

    Args:
        depth: step of its first token, from 0.
        lane: first of the `lanes` rows that pass through it.
        tokens: its tokens; several if they have no branch between them.
    """

    depth: int
    lane: int
    lanes: int
    tokens: tuple[RowToken, ...]

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def prob(self) -> float:
        """Geometric mean of the raw probabilities."""
        probs = [token.raw_prob for token in self.tokens]
        if min(probs) <= 0:
            return 0.0
        return math.exp(sum(map(math.log, probs)) / len(probs))


class TreeLayout(NamedTuple):
    """Cells by depth, rows by lane, the number of drawn steps and the number of all steps."""

    cells: tuple[TreeCell, ...]
    lanes: tuple[Lane, ...]
    steps: int
    all_steps: int

    def until(self, steps: int) -> TreeLayout:
        """Return the layout of the first steps alone."""
        cells = tuple(
            cell._replace(tokens=cell.tokens[: steps - cell.depth])
            for cell in self.cells
            if cell.depth < steps
        )
        return self._replace(cells=cells, steps=min(self.steps, steps))


def lay_out_tree(rows: Sequence[Lane], *, fold: bool = True, forks: bool = False) -> TreeLayout:
    """Assign lanes so that rows with a common beginning are adjacent, and make a cell for each
    node.

    Args:
        fold: whether a sequence of tokens without a branch is one cell.
        forks: whether branches are ordered by their first rows (otherwise by their number of rows)
            and a framed token begins a new cell.
    """

    def begins(place: int, depth: int) -> bool:
        framed = rows[place].framed if forks else ()
        return not fold or (depth in framed and depth - 1 not in framed)

    ids = [[token.token_id for token in row.tokens] for row in rows]
    longest = max(map(len, ids), default=0)
    # Number of nodes at each depth: the distinct beginnings.
    depths = range(min(longest, MOST_NODES))
    nodes = [len({tuple(row[: at + 1]) for row in ids if len(row) > at}) for at in depths]
    fits = [at for at in range(len(nodes) + 1) if sum(nodes[:at]) <= MOST_NODES]
    steps = max(fits[-1], min(longest, 1))
    order = _order(ids, list(range(len(rows))), 0, forks=forks)
    lanes = {place: lane for lane, place in enumerate(order)}
    cells = [
        TreeCell(
            first, min(map(lanes.__getitem__, group)), len(group), rows[group[0]].tokens[first:end]
        )
        for first, end, group in _runs(ids, list(range(len(rows))), 0, steps, begins)
    ]
    return TreeLayout(tuple(cells), tuple(rows[place] for place in order), steps, longest)


def _branches(ids: Sequence[Sequence[int]], places: Sequence[int], depth: int) -> list[list[int]]:
    """Return the rows that continue at a depth, grouped by their token there."""
    groups: dict[int, list[int]] = {}
    for place in places:
        if depth < len(ids[place]):
            groups.setdefault(ids[place][depth], []).append(place)
    return list(groups.values())


def _order(
    ids: Sequence[Sequence[int]], places: list[int], depth: int, *, forks: bool
) -> list[int]:
    """Return rows with a common beginning in the order of lanes; ended rows come first."""
    # One level of recursion per step would exceed Python's stack for a long run.
    while (branches := _branches(ids, places, depth)) == [places]:
        depth += 1
    ended = [place for place in places if depth >= len(ids[place])]
    for branch in sorted(branches, key=lambda group: (0 if forks else -len(group), group[0])):
        ended += _order(ids, branch, depth + 1, forks=forks)
    return ended


def _runs(
    ids: Sequence[Sequence[int]],
    places: list[int],
    depth: int,
    steps: int,
    begins: Callable[[int, int], bool],
) -> Iterator[tuple[int, int, list[int]]]:
    """Yield each cell's first depth, the depth after its last, and its rows, parents first.

    Args:
        begins: returns whether a row's token at a depth begins a cell.
    """
    for group in _branches(ids, places, depth) if depth < steps else ():
        end = depth + 1
        while end < steps and _branches(ids, group, end) == [group]:
            if any(begins(place, end) for place in group):
                break
            end += 1
        yield depth, end, group
        yield from _runs(ids, group, end, steps, begins)
