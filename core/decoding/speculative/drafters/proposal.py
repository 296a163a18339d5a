"""Proposal of one round, and the interface of a draft source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from ..config import Speculative
from ..distributions import Rows
from ..lookahead.window import Levels
from ..types import CacheSizes, DraftEnd, DraftRound, SourceToken

Noise = Callable[[int], list[float]]
"""`noise(n)`: the run's next n uniform numbers."""


@dataclass(slots=True)
class Proposal:
    """Tokens drafted in one round.

    Args:
        rows: distribution from which each token was drawn.
        logits: the draft's logits, `[vocab]` for each token; empty for prompt lookup.
        translation: the draft's own tokens, if its tokenizer is another one.
        uniforms: numbers that drew the tokens; None for a row with one token only.
        parents: of a tree, the parent of each token; -1 for none. None for a chain.
        window: guesses of lookahead decoding that the same forward reads, level by level.
    """

    token_ids: list[int] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: Rows(None, []))
    logits: list[Tensor] = field(default_factory=list)
    uniforms: list[float | None] = field(default_factory=list)
    intervals: list[tuple[float, float] | None] = field(default_factory=list)
    end: DraftEnd = "length"
    parents: list[int] | None = None
    translation: tuple[SourceToken, ...] = ()
    window: Levels = ()


class ReadsHidden(Protocol):
    """A draft that reads the target's hidden states."""

    def see(self, hidden: Tensor) -> None:
        """Take in the hidden states of the tokens that the target has scored, `[n, width]`."""
        ...


class ReadsRounds(Protocol):
    """A draft that reads the finished rounds."""

    def after(self, step: DraftRound) -> None:
        """Take in a finished round."""
        ...


class Draft(Protocol):
    """A source of drafted tokens for one run."""

    prefill: float
    """Seconds that the prompt took."""

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:
        """Return at most `length` tokens after `ids`, of which the last `index` are generated."""
        ...

    def keep(self, length: int) -> CacheSizes | None:
        """Remove everything after the first `length` tokens; return this round's cache sizes."""
        ...

    def branch(self, config: Speculative) -> Draft:
        """Return a separate draft for another run with the same prompt, before either has
        started.
        """
        ...
