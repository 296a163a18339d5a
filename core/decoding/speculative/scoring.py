"""Input of the target for each way of scoring: rows of token ids with positions; torch-free.

`feed` is the input of this engine, whose rows share no cache. `feed_paged` is the input of an
engine with a paged cache (vLLM); a page draws it and shows how much more this engine feeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...language import Message
from .config import Scoring
from .tree.shape import chain, depths_of, path_to


class FedRow(NamedTuple):
    """One sequence of the target's forward.

    Args:
        token_ids: tokens to feed, padding at the end included.
        positions: position of each token in the sequence, from 0.
        cached: number of the sequence's tokens in the cache.
        new: number of the sequence's own tokens in `token_ids`; the rest is padding to the length
            of the other rows, and its logits are ignored.
        reads: indices in `token_ids` whose logits are read; all rows together have one for each
            position to score.
        shared: number of tokens between the cached tokens and `token_ids` that other rows of the
            same forward feed into the shared cache.
        nodes: places of the shared tokens and of `token_ids` among all tokens of the forward, the
            unread token first; empty where they are 0, 1, 2, ...
    """

    token_ids: tuple[int, ...]
    positions: tuple[int, ...]
    cached: int
    new: int
    reads: tuple[int, ...]
    shared: int = 0
    nodes: tuple[int, ...] = ()

    def node(self, place: int) -> int:
        """Return the place in the forward of the row's token at a place behind the cache."""
        return self.nodes[place] if self.nodes else place

    @property
    def length(self) -> int:
        """Number of tokens in the sequence, without padding."""
        return self.cached + self.shared + self.new


def feed(
    scoring: Scoring,
    cached: int,
    pending: int,
    drafted: Sequence[int],
    parents: Sequence[int] | None = None,
) -> tuple[FedRow, ...]:
    """Return the rows of one forward that scores `drafted` and the position after it.

    Multi-query feeds one sequence and reads every position. Batch expansion feeds one sequence for
    each drafted token and reads its last token. Each begins with `pending`, the token that the
    target has emitted but not yet read.

    Args:
        cached: number of tokens in the target's cache.
        parents: parents of a tree's tokens; None for a chain.
    """
    ids = (pending, *drafted)
    tree = (-1, *(parent + 1 for parent in (chain(len(drafted)) if parents is None else parents)))
    if scoring == "multi_query":
        positions = tuple(cached + depth for depth in depths_of(tree))
        return (FedRow(ids, positions, cached, len(ids), tuple(range(len(ids)))),)
    return tree_rows(cached, ids, tree)


def tree_rows(
    cached: int, token_ids: Sequence[int], parents: Sequence[int], first: int = 0
) -> tuple[FedRow, ...]:
    """Return a row for each node from `first` on: its path, padded to the longest one's length."""
    paths = [
        tuple(token_ids[at] for at in path_to(parents, node))
        for node in range(first, len(token_ids))
    ]
    width = max(map(len, paths))
    positions, rows = tuple(range(cached, cached + width)), []
    for path in paths:
        padded, new = path + path[-1:] * (width - len(path)), len(path)
        rows.append(FedRow(padded, positions, cached, new, (new - 1,)))
    return tuple(rows)


def feed_paged(
    scoring: Scoring,
    cached: int,
    pending: int,
    drafted: Sequence[int],
    parents: Sequence[int] | None = None,
) -> tuple[FedRow, ...]:
    """Return the input with one paged cache: batch expansion feeds each sequence's last token only.

    A layer writes the keys and values of all rows before it attends, so that a row can use the
    tokens that other rows feed in the same forward. Source: vLLM's `BatchExpansionTop1Scorer`, one
    query token for each sequence.

    Args:
        parents: parents of a tree's tokens; None for a chain.
    """
    if scoring == "multi_query":
        return feed(scoring, cached, pending, drafted, parents)
    tree = (-1, *(parent + 1 for parent in (chain(len(drafted)) if parents is None else parents)))
    rows = list[FedRow]()
    for place, token_id in enumerate((pending, *drafted)):
        path = path_to(tree, place)
        nodes = () if parents is None else tuple(path)
        depth = len(path) - 1
        rows.append(FedRow((token_id,), (cached + depth,), cached, 1, (0,), depth, nodes))
    return tuple(rows)


def fed_again(
    cached: int, pending: int, drafted: Sequence[int], parents: Sequence[int] | None = None
) -> Message:
    """Return the ratio of the tokens that batch expansion feeds here to those with a paged cache,
    as text.

    It is empty if nothing is drafted: then there is no difference.
    """
    if not drafted:
        return Message("")
    rows = feed("batch_expansion", cached, pending, drafted, parents)
    new = sum(row.new for row in rows)
    padding = sum(len(row.token_ids) for row in rows) - new
    return Message(
        "The figure shows sequences that share a paged cache, as vLLM's do: {shared} tokens in "
        "all. This engine's rows share none, so each is fed its drafted tokens anew: {new} tokens "
        "and {padding} of padding, which the time measured here includes.",
        shared=len(rows),
        new=new,
        padding=padding,
    )
