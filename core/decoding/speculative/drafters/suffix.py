"""Suffix decoding (Oliaro et al. 2024): the likeliest continuation of the text's own suffixes.

The rule is that of vLLM's `suffix`, Arctic Inference's `SuffixTree::speculate` and
`_speculate_path` (`csrc/suffix_decoding/suffix_tree.cc`), on the tree of this text alone: earlier
requests' texts are not kept. Of equally frequent tokens the one that came first in the text is
taken; the original takes the first in its hash table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..config import Speculative

# vLLM's `suffix_decoding_max_tree_depth`: longest counted piece of text, in tokens.
DEPTH = 24


class SuffixPath(NamedTuple):
    """A continuation of the suffix of `size` tokens; `score` is the sum of its tokens'
    probabilities.
    """

    token_ids: list[int]
    score: float
    size: int = 0


def follow(ids: Sequence[int], config: Speculative, length: int) -> list[int]:
    """Return the tokens of the best continuation."""
    return best_path(ids, config, length).token_ids


def best_path(ids: Sequence[int], config: Speculative, length: int) -> SuffixPath:
    """Return the continuation with the highest score; of equal ones that of the longest suffix."""
    held, best = list(ids), SuffixPath([], 0.0)
    # Positions after each occurrence of the suffix; the last one is the end of the text.
    ends = list(range(1, len(held) + 1))
    for size in range(1, min(DEPTH, len(held))):
        ends = [end for end in ends if end >= size and held[end - size] == held[-size]]
        allowed = min(length, int(size * config.suffix_factor + 1e-6), DEPTH - size)
        continuation = _continue(held, ends, allowed, config.suffix_min_prob)
        if continuation.score >= best.score:
            best = continuation._replace(size=size)
        if len(ends) == 1:
            break
    return best


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
