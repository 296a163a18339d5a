"""N-gram counts of the text, as llama.cpp's lookup decoding keeps them.

The rule is that of `common_ngram_cache_draft` (`common/ngram-cache.cpp`) with the context's counts
alone, as they are without files of other texts: the longest n-gram first, if it was seen often
enough and its most frequent next token has share enough. Of equally frequent tokens the one that
came first in the text is taken; the original takes the first in its hash table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ..config import Speculative

# By the length of the n-gram, from 1: `draft_min_sample_size_lax` and `draft_min_percent_lax`.
LEAST_SEEN = (2, 2, 1, 1)
LEAST_PERCENT = (66, 50, 50, 50)

NgramCounts = dict[tuple[int, ...], Counter[int]]


def follow(ids: Sequence[int], _: Speculative, length: int) -> list[int]:
    """Return the tokens that the counts give, one after the other."""
    return [token_id for token_id, _ in follow_sizes(ids, length)]


def follow_sizes(ids: Sequence[int], length: int) -> list[tuple[int, int]]:
    """Return the tokens that the counts give, each with the length of its n-gram."""
    counts, drafted = _counts(ids), list[tuple[int, int]]()
    while len(ids) > 1 and len(drafted) < length:
        following = _next(counts, [*ids[-len(LEAST_SEEN) :], *(one for one, _ in drafted)])
        if following is None:
            break
        drafted.append(following)
    return drafted


def _counts(ids: Sequence[int]) -> NgramCounts:
    counts: NgramCounts = defaultdict(Counter)
    for size in range(1, len(LEAST_SEEN) + 1):
        for end in range(size, len(ids)):
            counts[tuple(ids[end - size : end])][ids[end]] += 1
    return counts


def _next(counts: NgramCounts, ids: Sequence[int]) -> tuple[int, int] | None:
    for size in range(min(len(LEAST_SEEN), len(ids)), 0, -1):
        following = counts.get(tuple(ids[-size:]))
        if not following:
            continue
        token_id, count = following.most_common(1)[0]
        seen = following.total()
        if seen >= LEAST_SEEN[size - 1] and 100 * count >= LEAST_PERCENT[size - 1] * seen:
            return token_id, size
    return None
