"""Measurements of the sampling lab on one step: frozen values that need no torch.

Probabilities are over the full vocabulary, entropies and log-probabilities in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

from core.decoding.autoregressive.config import Sampling
from core.decoding.config import MAX_CANDIDATES, DrawMethod, MethodConfig
from core.decoding.record.bounds import (
    MAX_COUNT,
    Bounds,
    Index,
    LongText,
    Nats,
    Prob,
    Rank,
    Seconds,
    Seed,
    ShortText,
    TokenId,
)
from core.decoding.record.steps import Candidate, FinishReason, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.orders import Order
from core.decoding.validation import ShortRepr

_Temperatures = Bounds(max_length=201)
_Tokens = Bounds(max_length=100)
_Name: TypeAlias = Annotated[str, Bounds(max_length=40)]
_Entropy: TypeAlias = Annotated[float, Bounds(ge=0, le=100)]
# A top-k is a whole number and stays one.
KnobValue: TypeAlias = Annotated[int | float, Bounds(ge=0, le=MAX_COUNT)]


class Crossing(NamedTuple):
    """Last token that top-p kept: its mass carried the sum to p or past it.

    `before` and `after` are the cumulative mass without and with that token, in the distribution
    that top-p saw; `probs[i]` is its probability in the step's stage i.
    """

    candidate: Candidate
    before: Prob
    after: Prob
    probs: Annotated[tuple[Prob, ...], Bounds(max_length=MAX_CANDIDATES + 1)]


@dataclass(frozen=True, slots=True, repr=False)
class LabStep(ShortRepr):
    """One step under one setting of all knobs.

    Args:
        trace: a trace of this one step, with the config that shaped and drew it.
        text_before: the text before the step, special tokens written out.
        order: the order in which the acts ran.
        throw: which throw of the seed's dice fell, from 0.
        raw_pick: the token that the same dice pick from the model's own distribution.
        crossing: top-p's last token, None where top-p is off.
        skipped: acts that are set and that the order's library doesn't have.
    """

    trace: Trace
    text_before: LongText
    order: Order
    throw: Index
    raw_pick: Candidate
    crossing: Crossing | None = None
    skipped: Annotated[tuple[ShortText, ...], Bounds(max_length=20)] = ()

    @property
    def step(self) -> TokenStep:
        return self.trace.token_steps[0]

    @property
    def config(self) -> MethodConfig:
        return self.trace.config

    @property
    def draw(self) -> DrawMethod:
        """The method asked for, also where temperature 0 leaves nothing to draw."""
        return self.config.draw if isinstance(self.config, Sampling) else "inverse_cdf"


class TokenInterval(NamedTuple):
    """Values of a knob that all give one token.

    `low` and `high` were tried and give it. Next to the piece that holds the knob's value the gap
    is at most a millionth of the range (a whole number for top-k); elsewhere a 512th, or more where
    tokens follow one another quickly.
    """

    low: KnobValue
    high: KnobValue
    token_id: TokenId
    text: ShortText


@dataclass(frozen=True, slots=True, repr=False)
class KnobBoundaries(ShortRepr):
    """Tokens that one knob's range draws with the same noise, the other knobs as they are.

    Args:
        name: the field of `Shaping`.
        value: the knob's own.
        pieces: by rising value, from one end of the range to the other; a range ends where the
            knob is, if it is beyond.
        acts: False where the order's library has no such act.
    """

    name: _Name
    value: KnobValue
    pieces: Annotated[tuple[TokenInterval, ...], Bounds(max_length=2_000)]
    acts: bool = True

    @property
    def here(self) -> int | None:
        """The place of the piece that holds the value; None of a search that was stopped."""
        inside = (
            at for at, piece in enumerate(self.pieces) if piece.low <= self.value <= piece.high
        )
        return next(inside, None)

    @property
    def below(self) -> TokenInterval | None:
        """The nearest piece at lower values."""
        return None if not self.here else self.pieces[self.here - 1]

    @property
    def above(self) -> TokenInterval | None:
        """The nearest piece at higher values."""
        at = self.here
        return None if at is None or at + 1 == len(self.pieces) else self.pieces[at + 1]


class RollBin(NamedTuple):
    """A token, or all the rare ones together (`token_id` None), in a series of rolls."""

    token_id: TokenId | None
    text: ShortText
    prob: Prob
    rolls: Index
    tokens: Rank = 1


@dataclass(frozen=True, slots=True, repr=False)
class Rolls(ShortRepr):
    """Many throws of the dice at one distribution, against what they should give.

    Args:
        bins: by falling probability, the pooled rare tokens last; each expects 5 rolls or more,
            so that the test holds (Cochran 1954).
        chi_square: Pearson's statistic over the bins.
        degrees: bins less one.
        p_value: how often fair dice would lie this far off or farther; None for a single bin.
    """

    method: DrawMethod
    seed: Seed
    first_throw: Index
    total: Index
    bins: Annotated[tuple[RollBin, ...], Bounds(max_length=1_001)]
    chi_square: Nats
    degrees: Index
    p_value: Prob | None


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(ShortRepr):
    """The final distribution at many temperatures, the other knobs as they are.

    Args:
        probs: `[token][temperature]`, 0 where the token is removed.
        entropies: of the final distribution, nats, `[temperature]`.
        kept: tokens that can be drawn, `[temperature]`.
    """

    temperatures: Annotated[tuple[Annotated[float, Bounds(ge=0, le=100)], ...], _Temperatures]
    candidates: Annotated[tuple[Candidate, ...], _Tokens]
    probs: Annotated[tuple[Annotated[tuple[Prob, ...], _Temperatures], ...], _Tokens]
    entropies: Annotated[tuple[_Entropy, ...], _Temperatures]
    kept: Annotated[tuple[Rank, ...], _Temperatures]


class RowToken(NamedTuple):
    """A token of a continuation: the model's own probability and the one drawn from."""

    token_id: TokenId
    text: ShortText
    raw_prob: Prob
    prob: Prob


@dataclass(frozen=True, slots=True, repr=False)
class Continuation(ShortRepr):
    """One way on; `seed` None is the greedy one."""

    seed: Seed | None
    tokens: Annotated[tuple[RowToken, ...], Bounds(max_length=2_000)]
    text: LongText
    finish_reason: FinishReason

    @property
    def mean_logprob(self) -> float:
        """Mean ln of the model's own probability of its tokens, nats; 0 without a token."""
        if not self.tokens:
            return 0.0
        logs = [
            math.log(token.raw_prob) if token.raw_prob > 0 else -math.inf for token in self.tokens
        ]
        return sum(logs) / len(logs)

    def distinct(self, n: int) -> float | None:
        """Distinct n-grams over all n-grams (Li et al. 2016); None where it is shorter than n."""
        return distinct([self], n)


def distinct(rows: Sequence[Continuation], n: int) -> float | None:
    """Distinct n-grams over all n-grams of all rows together; None where there is none."""
    grams = [
        tuple(token.token_id for token in row.tokens[at : at + n])
        for row in rows
        for at in range(len(row.tokens) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else None


@dataclass(frozen=True, slots=True, repr=False)
class Continuations(ShortRepr):
    """Several continuations of one text, decoded in one batch.

    Args:
        config: of every sampled row, whose seed is the row's own.
        rows: the sampled ones in order of seeds, the greedy one last.
        seconds: what the batch took.
    """

    model_id: ShortText
    text_before: LongText
    config: Sampling
    rows: Annotated[tuple[Continuation, ...], Bounds(max_length=33)]
    seconds: Seconds = 0.0

    @property
    def sampled(self) -> tuple[Continuation, ...]:
        return tuple(row for row in self.rows if row.seed is not None)

    @property
    def greedy(self) -> Continuation | None:
        return next((row for row in self.rows if row.seed is None), None)


@dataclass(frozen=True, slots=True, repr=False)
class LabExample(ShortRepr):
    """Measurements of one step for the lab's figures, stored so that they open without a model.

    Args:
        index: the step's place in the run that it was taken from.
        flips, rolls, sweep, continuations: empty or None where they were not worked out.
    """

    schema: ClassVar[str] = "decoding-explorer/lab"
    version: ClassVar[int] = 1

    index: Index
    step: LabStep
    flips: Annotated[tuple[KnobBoundaries, ...], Bounds(max_length=50)] = ()
    rolls: Rolls | None = None
    sweep: Sweep | None = None
    continuations: Continuations | None = None
