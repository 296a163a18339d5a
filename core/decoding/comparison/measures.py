"""Entropy, surprisal, divergence and total variation of two runs, a step each; torch-free.

From two traces alone the distributions are compared by their recorded candidates: those that both
hold, and one cell for the rest. Fewer cells never give more divergence or variation, so that both
are lower bounds. `readings` has them over the whole vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from core.decoding.comparison.parting import first_difference, step_at
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace

ComparedDistribution: TypeAlias = Literal["raw", "final"]
"""`raw` is the model's own, `final` is the one that the token was drawn from."""
ReadText: TypeAlias = Literal["own", "left", "right"]
Pair: TypeAlias = tuple[float | None, float | None]
# In place of a recorded probability of 0, which rounding may have left.
_LEAST = 1e-12


class Divergence(NamedTuple):
    """Divergence of two distributions, in nats.

    Args:
        left: KL(left || right); infinite where the right one lacks a token of the left one.
        right: KL(right || left).
        variation: half the sum of all absolute differences, from 0 to 1.
    """

    left: float
    right: float
    variation: float


class StepMeasures(NamedTuple):
    """Measures of both runs at one step; None where one has no such step.

    Args:
        tokens: the emitted token of each run.
        entropy, surprisal: of each run, in nats.
    """

    at: int
    tokens: tuple[str | None, str | None]
    entropy: Pair
    surprisal: Pair
    divergence: Divergence | None


class PairMeasures(NamedTuple):
    """Measures of two runs.

    Args:
        parted_at: index of the first token that differs; None for none.
        text: whose tokens stand before a step: each run's own, or one run's for both.
        distribution: which distributions the divergence compares.
        exact: True over the whole vocabulary, False for lower bounds.
    """

    steps: tuple[StepMeasures, ...]
    parted_at: int | None
    text: ReadText = "own"
    distribution: ComparedDistribution = "raw"
    exact: bool = False


def recorded_measures(
    left: Trace, right: Trace, distribution: ComparedDistribution = "raw"
) -> PairMeasures:
    """Measure two runs by what their traces hold."""
    count = max(len(left.token_steps), len(right.token_steps))
    steps = (
        _of_steps(at, step_at(left, at), step_at(right, at), distribution) for at in range(count)
    )
    return PairMeasures(
        tuple(steps), first_difference(left.token_ids, right.token_ids), distribution=distribution
    )


def recorded_divergence(
    left: TokenStep, right: TokenStep, distribution: ComparedDistribution = "raw"
) -> Divergence:
    """Return the least divergence that the recorded candidates of two steps allow."""
    field = "raw_prob" if distribution == "raw" else "prob"
    ours, theirs = (
        {c.token_id: float(getattr(c, field)) for c in step.candidates} for step in (left, right)
    )
    return divergence(*_cells(ours, theirs))


def divergence(left: list[float], right: list[float]) -> Divergence:
    """Return the divergence of two lists of probabilities over the same cells."""
    return Divergence(
        _relative_entropy(left, right),
        _relative_entropy(right, left),
        sum(abs(p - q) for p, q in zip(left, right, strict=True)) / 2,
    )


def _of_steps(
    at: int, left: TokenStep | None, right: TokenStep | None, distribution: ComparedDistribution
) -> StepMeasures:
    both = left, right
    return StepMeasures(
        at,
        (left.chosen.text if left else None, right.chosen.text if right else None),
        (left.entropy if left else None, right.entropy if right else None),
        (left.surprisal if left else None, right.surprisal if right else None),
        recorded_divergence(both[0], both[1], distribution) if both[0] and both[1] else None,
    )


def _cells(
    ours: Mapping[int, float], theirs: Mapping[int, float]
) -> tuple[list[float], list[float]]:
    """Return both distributions over the common tokens and one cell for all others."""
    common = [token for token in ours if token in theirs]
    known = [[held[token] for token in common] for held in (ours, theirs)]
    left, right = ([*probs, max(0.0, 1.0 - sum(probs))] for probs in known)
    return left, right


def _relative_entropy(p: list[float], q: list[float]) -> float:
    total = sum(a * math.log(a / max(b, _LEAST)) for a, b in zip(p, q, strict=True) if a > 0)
    return max(0.0, total)
