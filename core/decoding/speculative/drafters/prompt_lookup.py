"""Prompt lookup (Saxena 2023; transformers' `PromptLookupCandidateGenerator`: longest n-gram first,
then the leftmost match).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..config import Speculative


def follow(ids: Sequence[int], config: Speculative, length: int) -> list[int]:
    """Return the tokens after an earlier occurrence of the last tokens."""
    return look_up(ids, config.lookup_ngram, length)


def look_up(ids: Sequence[int], longest: int, length: int) -> list[int]:
    """Return the tokens after the first earlier occurrence of the last n tokens, with n falling to
    1.

    Args:
        longest: the first n.
        length: maximum number of returned tokens.
    """
    held = list(ids)
    for size in range(min(longest, len(held) - 1), 0, -1):
        ending = held[-size:]
        for start in range(len(held) - size):
            if held[start] == ending[0] and held[start : start + size] == ending:
                return held[start + size : start + size + length]
    return []
