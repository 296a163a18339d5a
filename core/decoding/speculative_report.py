"""What measuring speculative decoding gives, beside target-only decoding in the same run.

Torch-free, so that a stored report can be drawn; `speculative_runs` makes it.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from core.decoding.speculative_metrics import Costs, percentiles
from core.decoding.types import TokenStep, Trace


class Latency(NamedTuple):
    """Seconds of repeated runs from the prompt to the last token, recording left out."""

    seconds: tuple[float, ...]

    @property
    def percentiles(self) -> tuple[tuple[int, float], ...]:
        """(percentile, seconds) at 10, 25, 50, 75, 90, 99."""
        return percentiles(self.seconds)


class Comparison(NamedTuple):
    """Speculative and target-only runs, taken in turns.

    Args:
        speculative: the last trace of its kind, as is `target_only`.
        speculative_token_seconds: of every run, the seconds a generated token took (prompt and
            recording left out), as `target_token_seconds`.
        costs: medians over the runs.
    """

    speculative: Trace
    target_only: Trace
    speculative_latency: Latency
    target_latency: Latency
    speculative_token_seconds: tuple[float, ...]
    target_token_seconds: tuple[float, ...]
    costs: Costs

    @property
    def speedup(self) -> float:
        """How many times faster a token is; the medians are compared."""
        return median(self.target_token_seconds) / median(self.speculative_token_seconds)

    @property
    def same_tokens(self) -> bool:
        """Whether both emitted the same, as they must in greedy decoding."""
        return self.speculative.token_ids == self.target_only.token_ids


class SweepPoint(NamedTuple):
    """One draft length: what it gave, and what the formula gives for its costs.

    `measured` and `predicted` are speed-ups over target-only decoding.
    """

    draft_length: int
    measured: float
    predicted: float
    tokens_per_round: float
    acceptance_rate: float


class LengthSweep(NamedTuple):
    """A draft-length sweep.

    `alpha` is the mean over all of its runs; None where nothing was drafted.
    """

    points: tuple[SweepPoint, ...]
    alpha: float | None
    costs: Costs
    best: int | None
    break_even: int | None


class Outcome(NamedTuple):
    """How often both methods ended a short run with these tokens; the rest has no tokens."""

    token_ids: tuple[int, ...]
    text: str
    speculative: int
    target_only: int


class Losslessness(NamedTuple):
    """Many short runs of both methods, and the test that both have one distribution.

    Args:
        runs: of each method.
        outcomes: by falling number; those too rare for the test are the last one together.
        chi_square: of Pearson's test of homogeneity.
        p_value: how often two samples of one distribution lie this far apart, or farther; None
            where there is only one outcome.
    """

    runs: int
    tokens: int
    outcomes: tuple[Outcome, ...]
    chi_square: float
    degrees: int
    p_value: float | None


def speculative_latency(trace: Trace) -> float:
    """Seconds from the prompt to the last token, both prompts' processing included."""
    prompt = trace.prompt_step.seconds if trace.prompt_step else 0.0
    return prompt + sum(step.seconds.total + step.seconds.prefill for step in trace.rounds)


def speculative_token_seconds(trace: Trace) -> float:
    """Seconds that a token took on average, the prompts left out."""
    return sum(step.seconds.total for step in trace.rounds) / max(1, len(trace.token_ids))


def target_latency(trace: Trace) -> float:
    """Seconds from the prompt to the last token of a run without a draft."""
    prompt = trace.prompt_step.seconds if trace.prompt_step else 0.0
    return prompt + sum(step.seconds.total for step in trace.token_steps)


def target_token_seconds(trace: Trace) -> float:
    """Seconds that a token took on average; the first one's forward was the prompt's."""
    later: tuple[TokenStep, ...] = trace.token_steps[1:] or trace.token_steps
    return sum(step.seconds.total for step in later) / max(1, len(later))
