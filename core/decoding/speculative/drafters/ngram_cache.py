"""N-gram counts of the text, as llama.cpp's lookup decoding keeps them.

The rule is that of `common_ngram_cache_draft` (`common/ngram-cache.cpp`) with the context's counts
alone, as they are without files of other texts: the longest n-gram first, if it was seen often
enough and its most frequent next token has share enough. Of equally frequent tokens the one that
came first in the text is taken; the original takes the first in its hash table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ..config import Speculative
from ..tree.paths import Path, TokenTree, likeliest

# By the length of the n-gram, from 1: `draft_min_sample_size_lax` and `draft_min_percent_lax`.
LEAST_SEEN = (2, 2, 1, 1)
LEAST_PERCENT = (66, 50, 50, 50)

NgramCounts = dict[tuple[int, ...], Counter[int]]


class _Following(NamedTuple):
    """Counts of the tokens after an n-gram of `size` tokens; 0 for none."""

    size: int
    counts: Counter[int]


def follow(ids: Sequence[int], _: Speculative, length: int) -> list[int]:
    """Return the tokens that the counts give, one after the other."""
    counts, drafted = _counts(ids), list[int]()
    while len(ids) > 1 and len(drafted) < length:
        token_id = _next(counts, [*ids[-len(LEAST_SEEN) :], *drafted])
        if token_id is None:
            break
        drafted.append(token_id)
    return drafted


def _counts(ids: Sequence[int]) -> NgramCounts:
    counts: NgramCounts = defaultdict(Counter)
    for size in range(1, len(LEAST_SEEN) + 1):
        for end in range(size, len(ids)):
            counts[tuple(ids[end - size : end])][ids[end]] += 1
    return counts


def branches(ids: Sequence[int], config: Speculative, length: int) -> TokenTree:
    """Return the most frequent tokens that the counts give after each other, in place of a single
    one.
    """
    counts, last = _counts(ids), list(ids[-len(LEAST_SEEN) :])

    def next_tokens(path: Path) -> list[tuple[int, float]]:
        following = _following(counts, [*last, *path]).counts
        total = following.total()
        return [(token_id, count / total) for token_id, count in following.most_common()]

    return likeliest(next_tokens, config.tree_nodes, length) if len(ids) > 1 else TokenTree()


def ngram_size(ids: Sequence[int], path: Sequence[int]) -> int:
    """Return the number of last tokens whose counts give the token after `path`; 0 for none.

    Args:
        ids: prompt and text, which are counted.
        path: drafted tokens after them.
    """
    return _following(_counts(ids), [*ids[-len(LEAST_SEEN) :], *path]).size


def _next(counts: NgramCounts, ids: Sequence[int]) -> int | None:
    following = _following(counts, ids).counts
    return next((token_id for token_id, _ in following.most_common(1)), None)


def _following(counts: NgramCounts, ids: Sequence[int]) -> _Following:
    """Return the counts after the longest n-gram that is known well enough; empty for none."""
    for size in range(min(len(LEAST_SEEN), len(ids)), 0, -1):
        following = counts.get(tuple(ids[-size:]))
        if not following:
            continue
        _, count = following.most_common(1)[0]
        seen = following.total()
        if seen >= LEAST_SEEN[size - 1] and 100 * count >= LEAST_PERCENT[size - 1] * seen:
            return _Following(size, following)
    return _Following(0, Counter())
