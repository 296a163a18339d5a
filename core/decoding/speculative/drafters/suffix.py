"""Suffix decoding (Oliaro et al. 2024): the likeliest continuation of the text's own suffixes.

The rule is that of vLLM's `suffix`, Arctic Inference's `SuffixTree::speculate`, `_speculate_path`
and `_speculate_tree` (`csrc/suffix_decoding/suffix_tree.cc`), on the tree of this text alone:
earlier requests' texts are not kept. Of equally frequent tokens the one that came first in the text
is taken; the original takes the first in its hash table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..config import Speculative
from ..tree.paths import TokenTree, likeliest, next_in_text

# vLLM's `suffix_decoding_max_tree_depth`: longest counted piece of text, in tokens.
DEPTH = 24


class SuffixPath(NamedTuple):
    """A continuation of one suffix; `score` is the sum of its tokens' probabilities."""

    token_ids: list[int]
    score: float


def follow(ids: Sequence[int], config: Speculative, length: int) -> list[int]:
    """Return the continuation with the highest score; of equal ones that of the longest suffix."""
    held, best = list(ids), SuffixPath([], 0.0)
    for size, ends in _suffixes(held):
        allowed = min(length, _most(size, config), DEPTH - size)
        continuation = _continue(held, ends, allowed, config.suffix_min_prob)
        if continuation.score >= best.score:
            best = continuation
    return best.token_ids


def branches(ids: Sequence[int], config: Speculative, length: int) -> TokenTree:
    """Return the tree with the highest score; of equal ones that of the longest suffix."""
    held, best = list(ids), TokenTree()
    for size, ends in _suffixes(held):
        nodes, depth = min(config.tree_nodes, _most(size, config)), min(length, DEPTH - size)
        next_tokens = partial(next_in_text, held, ends)
        tree = likeliest(next_tokens, nodes, depth, config.suffix_min_prob)
        if tree.score >= best.score:
            best = tree
    return best


def _suffixes(held: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield the length of each suffix that came before, and the positions after its occurrences."""
    # The last position is the end of the text.
    ends = list(range(1, len(held) + 1))
    for size in range(1, min(DEPTH, len(held))):
        ends = [end for end in ends if end >= size and held[end - size] == held[-size]]
        yield size, ends
        if len(ends) == 1:
            break


def _most(size: int, config: Speculative) -> int:
    """Return the maximum number of drafted tokens after a suffix."""
    return int(size * config.suffix_factor + 1e-6)


def _continue(held: list[int], ends: list[int], allowed: int, least: float) -> SuffixPath:
    """Follow the most frequent next token while the product of the shares is at least `least`."""
    token_ids, score, prob = list[int](), 0.0, 1.0
    while len(token_ids) < allowed:
        going = [end for end in ends if end < len(held)]
        if not going:
            break
        token_id, count = Counter(held[end] for end in going).most_common(1)[0]
        # An occurrence at the end of the text counts too: nothing follows it yet.
        prob *= count / len(ends)
        if prob < least:
            break
        token_ids.append(token_id)
        score += prob
        ends = [end + 1 for end in going if held[end] == token_id]
    return SuffixPath(token_ids, score)
