"""Prompt lookup: the longest n-gram first, then the leftmost match.

Rule and ties are those of transformers' `PromptLookupCandidateGenerator` (Saxena 2023) and of
vLLM's `ngram` (`vllm/v1/spec_decode/ngram_proposer.py`; `lookup_min` is its `prompt_lookup_min`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ..config import Speculative
from ..tree.paths import TokenTree, likeliest, next_in_text


class Match(NamedTuple):
    """Earlier occurrence of the last tokens: their number, and the index of its first token."""

    size: int
    start: int


def follow(ids: Sequence[int], config: Speculative, length: int) -> list[int]:
    """Return the tokens after an earlier occurrence of the last tokens."""
    return look_up(ids, config.lookup_ngram, length, config.lookup_min)


def look_up(ids: Sequence[int], longest: int, length: int, least: int = 1) -> list[int]:
    """Return at most `length` tokens after the match of `find_match`."""
    match = find_match(ids, longest, least)
    if match is None:
        return []
    after = match.start + match.size
    return list(ids[after : after + length])


def find_match(ids: Sequence[int], longest: int, least: int = 1) -> Match | None:
    """Return the first earlier occurrence of the last n tokens, with n falling.

    Args:
        longest: the first n.
        least: the last n.
    """
    held = list(ids)
    for size in range(min(longest, len(held) - 1), least - 1, -1):
        ending = held[-size:]
        for start in range(len(held) - size):
            if held[start] == ending[0] and held[start : start + size] == ending:
                return Match(size, start)
    return None


def branches(ids: Sequence[int], config: Speculative, length: int) -> TokenTree:
    """Return the most frequent tokens after all earlier occurrences of the last n tokens, with n
    falling until there is one.
    """
    held = list(ids)
    for size in range(min(config.lookup_ngram, len(held) - 1), config.lookup_min - 1, -1):
        starts = range(len(held) - size)
        ends = [at + size for at in starts if held[at : at + size] == held[-size:]]
        if ends:
            return likeliest(partial(next_in_text, held, ends), config.tree_nodes, length)
    return TokenTree()
