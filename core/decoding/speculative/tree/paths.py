"""Trees of tokens without distributions: continuations of the text that share beginnings;
torch-free.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .shape import chain

Path = tuple[int, ...]
NextTokens = Callable[[Path], Sequence[tuple[int, float]]]
"""`next_tokens(path)`: tokens that may follow a path, likeliest first, with their shares."""


class TokenTree(NamedTuple):
    """Nodes level by level, and the parent of each; -1 for none.

    `score` is the sum of the nodes' joint shares, for a tree of the likeliest nodes.
    """

    token_ids: Path = ()
    parents: Path = ()
    score: float = 0.0

    @classmethod
    def line(cls, token_ids: Sequence[int]) -> TokenTree:
        """Return a chain as a tree."""
        return cls(tuple(token_ids), chain(len(token_ids)))

    def paths(self) -> list[Path]:
        """Return the tokens down to each node."""
        paths: list[Path] = []
        for token_id, parent in zip(self.token_ids, self.parents, strict=True):
            paths.append((*(paths[parent] if parent >= 0 else ()), token_id))
        return paths

    def cut_after(self, ends: Iterable[int]) -> TokenTree:
        """Return the tree without the nodes that follow one of these tokens."""
        stops = frozenset(ends)
        return _by_level(path for path in self.paths() if stops.isdisjoint(path[:-1]))


def merged(paths: Iterable[Sequence[int]]) -> TokenTree:
    """Return the tree of all paths; siblings stand in the order in which they came first."""
    beginnings = (tuple(path[:end]) for path in paths for end in range(1, len(path) + 1))
    return _by_level(dict.fromkeys(beginnings))


def likeliest(next_tokens: NextTokens, nodes: int, depth: int, least: float = 0.0) -> TokenTree:
    """Return the tree of the nodes with the highest joint shares.

    It is Arctic Inference's `SuffixTree::_speculate_tree`; of equal nodes the one that was found
    first is taken.

    Args:
        nodes: maximum number of nodes.
        depth: maximum number of tokens in a path.
        least: lowest joint share of a node.
    """
    taken, score, found = list[Path](), 0.0, 0
    waiting: list[tuple[float, int, Path]] = []

    def extend(path: Path, joint: float) -> None:
        nonlocal found
        for token_id, share in next_tokens(path) if len(path) < depth else ():
            if joint * share >= least:
                heapq.heappush(waiting, (-joint * share, found, (*path, token_id)))
                found += 1

    extend((), 1.0)
    while waiting and len(taken) < nodes:
        negative, _, path = heapq.heappop(waiting)
        taken.append(path)
        score -= negative
        extend(path, -negative)
    return _by_level(taken)._replace(score=score)


def next_in_text(ids: Sequence[int], ends: Sequence[int], path: Path) -> list[tuple[int, float]]:
    """Return the tokens that follow a path at some places of a text, with their shares.

    Args:
        ends: positions in the text at which the path may begin.
    """
    size = len(path)
    held = [end + size for end in ends if tuple(ids[end : end + size]) == path]
    counts = Counter(ids[end] for end in held if end < len(ids))
    # An occurrence at the end of the text counts too: nothing follows it yet.
    return [(token_id, count / len(held)) for token_id, count in counts.most_common()]


def _by_level(paths: Iterable[Path]) -> TokenTree:
    """Return the tree of nodes that are given by their paths; siblings keep their order."""
    below: dict[Path, list[Path]] = {}
    for path in paths:
        below.setdefault(path[:-1], []).append(path)
    ids, parents = list[int](), list[int]()
    places: dict[Path, int] = {(): -1}
    level: list[Path] = [()]
    while level:
        level = [child for path in level for child in below.get(path, [])]
        for path in level:
            places[path] = len(ids)
            ids.append(path[-1])
            parents.append(places[path[:-1]])
    return TokenTree(tuple(ids), tuple(parents))
