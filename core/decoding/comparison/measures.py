"""Entropy, surprisal, divergence and total variation of two runs, a step each; torch-free.

From two traces alone the distributions are compared by their recorded candidates: those that both
hold, and one cell for the rest. Fewer cells never give more divergence or variation, so that both
are lower bounds. Where a filter of one run has removed a token that the other may emit, the
divergence is infinite. `readings` has both over the whole vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from ...language import Message
from ..autoregressive.config import Greedy, Sampling, as_single_tokens
from ..config import MethodConfig
from ..record.steps import TokenStep
from ..record.trace import Trace
from ..shaping.config import CONTRASTS, RESCALING
from ..speculative.config import Speculative
from ..validation import brief
from .parting import draws, step_at
from .reasons import first_difference

ComparedDistribution: TypeAlias = Literal["raw", "final"]
"""`raw` is the model's own, `final` is the one that the token was drawn from."""
ReadText: TypeAlias = Literal["own", "left", "right"]
Pair: TypeAlias = tuple[float | None, float | None]
# In place of a recorded probability of 0, which rounding may have left.
_LEAST = 1e-12
# The least mass of the rest: a tail is a difference of float32 sums.
_LEAST_REST = 1e-6


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
        parted_at: index of the first token that differs; None for none, and after other prompts.
        text: whose tokens stand before a step: each run's own, or one run's for both.
        distribution: which distributions the divergence compares.
        exact: True over the whole vocabulary, False for lower bounds.
        other_tokens: the first token id that has two texts, in words, as two tokenizers give it;
            then no divergence is measured. Empty if there is none.
        readers: the model that read for each run, with its number type; empty for stored numbers.
    """

    steps: tuple[StepMeasures, ...]
    parted_at: int | None
    text: ReadText = "own"
    distribution: ComparedDistribution = "raw"
    exact: bool = False
    other_tokens: str = ""
    readers: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComparedRuns:
    """Two runs in one file."""

    schema: ClassVar[str] = "decoding-explorer/comparison"
    version: ClassVar[int] = 1

    left: Trace
    right: Trace
    measures: PairMeasures


def drawing_config(config: MethodConfig) -> Greedy | Sampling | None:
    """Return the settings of the distribution that a run draws each token from; None for a method
    that chooses its tokens otherwise, such as a beam search.
    """
    chooser = config.chooser
    if isinstance(config, Speculative) and config.lossless:
        return as_single_tokens(config, draws(config))
    return chooser if isinstance(chooser, Greedy | Sampling) else None


def recorded_measures(
    left: Trace, right: Trace, distribution: ComparedDistribution = "raw"
) -> PairMeasures:
    """Measure two runs by what their traces hold."""
    count = max(len(left.token_steps), len(right.token_steps))
    other_tokens = _other_tokens(left, right)
    steps = [
        _of_steps(at, step_at(left, at), step_at(right, at), distribution) for at in range(count)
    ]
    if other_tokens:
        steps = [step._replace(divergence=None) for step in steps]
    return PairMeasures(
        tuple(steps), parted_at(left, right), distribution=distribution, other_tokens=other_tokens
    )


def parted_at(left: Trace, right: Trace) -> int | None:
    """Return the index of the first token that differs; None for none, and after other prompts."""
    if left.prompt_ids != right.prompt_ids:
        return None
    return first_difference(left.token_ids, right.token_ids)


def recorded_divergence(
    left: TokenStep, right: TokenStep, distribution: ComparedDistribution = "raw"
) -> Divergence:
    """Return the least divergence that the recorded candidates of two steps allow."""
    if distribution == "raw":
        return divergence(*_cells(left, right, "raw_prob", 0))
    left, right = unforced(left), unforced(right)
    least = divergence(*_cells(left, right, "prob", -1))
    return least._replace(
        left=math.inf if _lacks(right, left) else least.left,
        right=math.inf if _lacks(left, right) else least.right,
    )


def unforced(step: TokenStep) -> TokenStep:
    """Return a step whose token was given with the distribution that the settings draw from."""
    if step.origin != "forced" or len(step.stages) < 3:
        return step
    before = step.stages[:-2]
    final = before[-1].unchanged
    removed = dict[int, str]()
    for stage in reversed(before[1:]):
        if stage.name not in RESCALING - {*CONTRASTS}:
            removed |= {at: stage.name for at, prob in enumerate(stage.probs) if prob == 0}
    candidates = tuple(
        candidate._replace(prob=prob, removed_by=removed.get(at))
        for at, (candidate, prob) in enumerate(zip(step.candidates, final.probs, strict=False))
    )
    return replace(
        step,
        candidates=candidates,
        stages=(*before, final),
        origin="argmax" if step.draw.method == "argmax" else "sampled",
        forced_as=None,
        instead_of=None,
    )


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


def _other_tokens(left: Trace, right: Trace) -> str:
    """Describe the first token id that the candidates of two runs give two texts; empty if none."""
    texts, others = (
        {c.token_id: c.text for step in run.token_steps for c in step.candidates}
        for run in (left, right)
    )
    for token_id, text in texts.items():
        if others.get(token_id, text) != text:
            return Message(
                "token {token_id} is {left} in A and {right} in B",
                token_id=token_id,
                left=brief(text),
                right=brief(others[token_id]),
            )
    return ""


def _cells(
    left: TokenStep, right: TokenStep, field: str, stage: int
) -> tuple[list[float], list[float]]:
    """Return one distribution of both steps over the common tokens and one cell for all others."""
    ours, theirs = (
        {c.token_id: float(getattr(c, field)) for c in step.candidates} for step in (left, right)
    )
    common, rows = ours.keys() & theirs.keys(), []
    for held, step in ((ours, left), (theirs, right)):
        rest = step.stages[stage].tail_mass + sum(held[token] for token in held.keys() - common)
        rows.append([*(held[token] for token in sorted(common)), max(_LEAST_REST, rest)])
    return rows[0], rows[1]


def _lacks(one: TokenStep, other: TokenStep) -> bool:
    """Return whether a step's settings removed a token that the other step may emit."""
    removed = {c.token_id for c in one.candidates if c.removed_by is not None and c.prob == 0}
    kept = {c.token_id for c in one.candidates} - removed
    named = {c.token_id for c in other.candidates if c.prob > 0}
    if one.stages[-1].kept > len(kept):
        return bool(named & removed)
    # All tokens that may be emitted are candidates.
    return not named <= kept or other.stages[-1].kept > len(kept)


def _relative_entropy(p: list[float], q: list[float]) -> float:
    # Without the difference of the sums, a rounding error of a tail would count in full.
    total = sum(q) - sum(p)
    total += sum(a * math.log(a / max(b, _LEAST)) for a, b in zip(p, q, strict=True) if a > 0)
    return max(0.0, total)
