"""Repeats at the end of a text, as the DRY penalty looks for them; torch-free."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..record.bounds import Index

# Of e: a larger factor or penalty would overflow float32 at the lowest temperature.
MAX_EXPONENT = 60.0


class Repeat(NamedTuple):
    """A repeat that a token would continue: the last `length` tokens of the text stand earlier too,
    before the index `end`.
    """

    length: Index
    end: Index

    def penalty(self, multiplier: float, base: float, allowed: int) -> float:
        """Return DRY's penalty of the token: multiplier * base ** (length - allowed length)."""
        exponent = (self.length - allowed) * math.log(base)
        return multiplier * math.exp(min(exponent, MAX_EXPONENT))


def repeats(
    ids: Sequence[int],
    allowed: int,
    last_n: int,
    breakers: Sequence[str],
    token_bytes: Callable[[int], bytes] | None,
) -> dict[int, Repeat]:
    """Return the longest repeat that each token would continue; of equal ones the earliest.

    As in llama.cpp's `llama_sampler_dry_apply`: a repeat doesn't reach over the last breaker, and
    a token with a breaker in its text continues none. A breaker of several tokens is found by their
    bytes; llama.cpp compares them with one tokenization of it.

    Args:
        allowed: shorter repeats are left out.
        last_n: number of the last tokens that are looked at; -1 for all.
        token_bytes: returns the bytes of a token; None if there are no breakers.
    """
    window = list(ids if last_n < 0 else ids[len(ids) - min(last_n, len(ids)) :])
    if len(window) <= allowed:
        return {}
    breaks = _Breakers(breakers, token_bytes)
    limit = breaks.since(window)
    if limit < allowed:
        return {}
    start, longest = len(ids) - len(window), dict[int, Repeat]()
    for end, length in enumerate(_suffix_lengths(window), start=1):
        length, token = min(length, limit), window[end]
        before = longest.get(token)
        if length >= allowed and (before is None or before.length < length):
            longest[token] = Repeat(length, start + end)
    return {token: repeat for token, repeat in longest.items() if not breaks.inside(token)}


class _Breakers:
    """The breakers' bytes, and the tokens that hold one."""

    def __init__(self, texts: Sequence[str], token_bytes: Callable[[int], bytes] | None) -> None:
        self._breakers = [text.encode() for text in texts] if token_bytes else []
        self._bytes = token_bytes or (lambda _: b"")
        self._inside: dict[int, bool] = {}

    def inside(self, token: int) -> bool:
        """Return whether a token's own text holds a breaker."""
        if token not in self._inside:
            raw = self._bytes(token) if self._breakers else b""
            self._inside[token] = any(breaker in raw for breaker in self._breakers)
        return self._inside[token]

    def since(self, window: Sequence[int]) -> int:
        """Return the number of tokens after the last breaker."""
        for back in range(len(window)) if self._breakers else ():
            at = len(window) - 1 - back
            tails = [tail for tail in self._tails(window, at) if tail <= back]
            if self.inside(window[at]) or tails:
                return back - max(tails, default=0)
        return len(window)

    def _tails(self, window: Sequence[int], at: int) -> list[int]:
        """Return, for each breaker that begins in a token and ends in a later one, how many tokens
        later.
        """
        raw, tails = self._bytes(window[at]), []
        for breaker in self._breakers:
            for size in range(1, min(len(breaker), len(raw) + 1)):
                if raw.endswith(breaker[:size]):
                    tails += self._spelled(window[at + 1 :], breaker[size:])
        return tails

    def _spelled(self, tokens: Sequence[int], rest: bytes) -> list[int]:
        """Return the number of tokens that spell the rest of a breaker, if they do."""
        text = b""
        for count, token in enumerate(tokens, start=1):
            text += self._bytes(token)
            if text.startswith(rest):
                return [count]
            if not rest.startswith(text):
                break
        return []


def _suffix_lengths(window: Sequence[int]) -> list[int]:
    """Return, for each token but the last, the length of the longest common suffix of the window up
    to it and the whole window: the Z-function of the reversed window.
    """
    text = window[::-1]
    lengths = [0] * len(text)
    left = right = 0
    for at in range(1, len(text)):
        length = min(lengths[at - left], right - at) if at < right else 0
        while at + length < len(text) and text[length] == text[at + length]:
            length += 1
        lengths[at] = length
        if at + length > right:
            left, right = at, at + length
    return lengths[:0:-1]
