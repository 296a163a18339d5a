"""Measurements of the sampling lab on one step: frozen values that need no torch.

Probabilities are over the full vocabulary, entropies and log-probabilities in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

from ..autoregressive.config import Sampling
from ..config import MAX_CANDIDATES, DrawMethod, MethodConfig
from ..record.bounds import (
    MAX_COUNT,
    Bounds,
    Index,
    LeftOut,
    LongText,
    Nats,
    Prob,
    Rank,
    Seconds,
    Seed,
    ShortText,
    TokenId,
)
from ..record.steps import Candidate, FinishReason, TokenStep
from ..record.trace import Trace
from ..shaping.orders import Order
from ..shaping.repeats import Repeat
from ..validation import ShortRepr

_Temperatures = Bounds(max_length=201)
_Tokens = Bounds(max_length=100)
_Name: TypeAlias = Annotated[str, Bounds(max_length=40)]
_Entropy: TypeAlias = Annotated[float, Bounds(ge=0, le=100)]
# Top-k stays a whole number.
KnobValue: TypeAlias = Annotated[int | float, Bounds(ge=-MAX_COUNT, le=MAX_COUNT)]


class Crossing(NamedTuple):
    """The last token that top-p kept: with it the cumulative mass reaches p.

    `before` and `after` are the cumulative mass without and with the token, in the distribution
    that top-p received; `probs[i]` is its probability in the step's stage i.
    """

    candidate: Candidate
    before: Prob
    after: Prob
    probs: Annotated[tuple[Prob, ...], Bounds(max_length=MAX_CANDIDATES + 1)]


class LoweredToken(NamedTuple):
    """The token that DRY lowers most, and the repeat that it would continue.

    `tokens` is the number of tokens that DRY lowers.
    """

    candidate: Candidate
    repeat: Repeat
    tokens: Index


@dataclass(frozen=True, slots=True, repr=False)
class LabStep(ShortRepr):
    """A step under one setting of all knobs.

    Args:
        trace: a trace of this single step, with the config that shaped and drew it.
        text_before: the text before the step, with special tokens visible.
        order: the order of the processors.
        throw: index of the seed's draw, from 0.
        raw_pick: the token that the same noise draws from the model's unshaped distribution.
        crossing: the last token that top-p kept; None if top-p is off.
        skipped: processors that are switched on but missing in the order's library.
        lowered: the token that DRY lowers most; None if it lowers none.
    """

    trace: Trace
    text_before: LongText
    order: Order
    throw: Index
    raw_pick: Candidate
    crossing: Crossing | None = None
    skipped: Annotated[tuple[ShortText, ...], Bounds(max_length=50)] = ()
    lowered: Annotated[LoweredToken | None, LeftOut(lambda step: step.lowered is None)] = None

    @property
    def step(self) -> TokenStep:
        return self.trace.token_steps[0]

    @property
    def config(self) -> MethodConfig:
        return self.trace.config

    @property
    def draw(self) -> DrawMethod:
        """The requested draw method, even at temperature 0, where nothing is drawn."""
        return self.config.draw if isinstance(self.config, Sampling) else "inverse_cdf"


class TokenInterval(NamedTuple):
    """Interval of a knob's values that all give one token.

    `low` and `high` were tried and give the token. Next to the interval with the knob's value the
    gap is at most a millionth of the range (a whole number for top-k); elsewhere it is a 512th of
    the range, or more where tokens change quickly.
    """

    low: KnobValue
    high: KnobValue
    token_id: TokenId
    text: ShortText


@dataclass(frozen=True, slots=True, repr=False)
class KnobBoundaries(ShortRepr):
    """Tokens that the same noise draws over one knob's range; the other knobs stay.

    Args:
        name: field of `Shaping`.
        value: the knob's present value.
        pieces: intervals by rising value over the whole range; a range is extended to a knob's
            value beyond it.
        acts: False if the order's library lacks this processor.
    """

    name: _Name
    value: KnobValue
    pieces: Annotated[tuple[TokenInterval, ...], Bounds(max_length=2_000)]
    acts: bool = True

    @property
    def here(self) -> int | None:
        """Index of the interval with the knob's value; None for a stopped search."""
        inside = (
            at for at, piece in enumerate(self.pieces) if piece.low <= self.value <= piece.high
        )
        return next(inside, None)

    @property
    def below(self) -> TokenInterval | None:
        """The next interval at lower values."""
        return None if not self.here else self.pieces[self.here - 1]

    @property
    def above(self) -> TokenInterval | None:
        """The next interval at higher values."""
        at = self.here
        return None if at is None or at + 1 == len(self.pieces) else self.pieces[at + 1]


class Cut(NamedTuple):
    """Effect of one filter alone on the step's unshaped distribution.

    Args:
        name: field of `Shaping`.
        value: the filter's value, of XTC the threshold; the usual one if it is off.
        on: the filter is switched on.
        kept: number of tokens that it keeps.
        mass: their probability.
        keeps: for each of the step's candidates, whether it is kept.
    """

    name: _Name
    value: KnobValue
    on: bool
    kept: Rank
    mass: Prob
    keeps: Annotated[tuple[bool, ...], Bounds(max_length=MAX_CANDIDATES + 1)]


class RollBin(NamedTuple):
    """A token, or all rare tokens together (`token_id` None), in a series of draws."""

    token_id: TokenId | None
    text: ShortText
    prob: Prob
    rolls: Index
    tokens: Rank = 1


@dataclass(frozen=True, slots=True, repr=False)
class Rolls(ShortRepr):
    """Many draws from one distribution, compared with the expected counts.

    Args:
        bins: bins by falling probability, the pooled rare tokens last; each has 5 or more expected
            draws, as the test requires (Cochran 1954).
        chi_square: Pearson's statistic over the bins.
        degrees: degrees of freedom: number of bins minus 1.
        p_value: probability of a deviation this large or larger; None for a single bin.
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
    """Temperature sweep: the final distribution at many temperatures; the other knobs stay.

    Args:
        probs: `[token][temperature]`; 0 where the token is removed.
        entropies: entropy of the final distribution in nats, `[temperature]`.
        kept: number of tokens that can be drawn, `[temperature]`.
    """

    temperatures: Annotated[tuple[Annotated[float, Bounds(ge=0, le=100)], ...], _Temperatures]
    candidates: Annotated[tuple[Candidate, ...], _Tokens]
    probs: Annotated[tuple[Annotated[tuple[Prob, ...], _Temperatures], ...], _Tokens]
    entropies: Annotated[tuple[_Entropy, ...], _Temperatures]
    kept: Annotated[tuple[Rank, ...], _Temperatures]


class RowToken(NamedTuple):
    """A token of a continuation: its raw probability and the probability it was drawn with."""

    token_id: TokenId
    text: ShortText
    raw_prob: Prob
    prob: Prob


@dataclass(frozen=True, slots=True, repr=False)
class Continuation(ShortRepr):
    """One continuation; `seed` None marks the greedy one."""

    seed: Seed | None
    tokens: Annotated[tuple[RowToken, ...], Bounds(max_length=2_000)]
    text: LongText
    finish_reason: FinishReason

    @property
    def mean_logprob(self) -> float:
        """Mean log-probability of its tokens under the unshaped model, in nats; 0 without
        tokens.
        """
        if not self.tokens:
            return 0.0
        logs = [
            math.log(token.raw_prob) if token.raw_prob > 0 else -math.inf for token in self.tokens
        ]
        return sum(logs) / len(logs)

    def distinct(self, n: int) -> float | None:
        """Return distinct n-grams divided by all n-grams (Li et al. 2016); None if it is shorter
        than n.
        """
        return distinct([self], n)


def distinct(rows: Sequence[Continuation], n: int) -> float | None:
    """Return distinct n-grams divided by all n-grams of all rows together; None without n-grams."""
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
        config: config of every sampled row; each row has its own seed.
        rows: the sampled rows in the order of seeds, then the greedy row.
        seconds: duration of the batch.
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
        index: index of the step in its run.
        flips, cuts, rolls, sweep, continuations: empty or None if not computed.
    """

    schema: ClassVar[str] = "decoding-explorer/lab"
    version: ClassVar[int] = 1

    index: Index
    step: LabStep
    flips: Annotated[tuple[KnobBoundaries, ...], Bounds(max_length=50)] = ()
    cuts: Annotated[tuple[Cut, ...], Bounds(max_length=50), LeftOut(lambda lab: not lab.cuts)] = ()
    rolls: Rolls | None = None
    sweep: Sweep | None = None
    continuations: Continuations | None = None
