"""Results of measuring speculative decoding beside target-only decoding in the same run.

Torch-free, so that a stored report can be drawn; `measure.py` makes it.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from core.decoding.record.steps import StepSeconds
from core.decoding.record.trace import Trace
from core.decoding.speculative.measurement.metrics import Costs, percentiles, supported

# From so large a share of the measured speed-up on, a prediction is called another one.
FAR = 0.1


class Latency(NamedTuple):
    """Seconds of repeated runs from the prompt to the last token, recording left out."""

    seconds: tuple[float, ...]

    @property
    def percentiles(self) -> tuple[tuple[int, float], ...]:
        """(percentile, seconds) at those of 10, 25, 50, 75, 90, 99 that the runs support."""
        return percentiles(self.seconds, supported(len(self.seconds)))


class TargetRun(NamedTuple):
    """Run of the target alone, timed by the acts of a round and nothing else.

    Args:
        prefill: seconds of the prompt, whose last position gives the first token.
        seconds: of each token; the first one's forward was the prompt's.
    """

    token_ids: tuple[int, ...]
    prefill: float
    seconds: tuple[StepSeconds, ...]

    @property
    def latency(self) -> float:
        """Seconds from the prompt to the last token."""
        return self.prefill + sum(step.total for step in self.seconds)

    @property
    def token_seconds(self) -> float:
        """Seconds that a token took on average, the first one left out where there are others."""
        later = self.seconds[1:] or self.seconds
        return sum(step.total for step in later) / max(1, len(later))


class Comparison(NamedTuple):
    """Speculative and target-only runs, taken in turns.

    Args:
        speculative: the last run of its kind, as is `target_only`.
        speculative_token_seconds: of every run, the seconds a generated token took (prompt and
            recording left out), as `target_token_seconds`.
        costs: medians over the runs.
        stage_shares: of every speculative run, the shares of its rounds' time that its stages
            took (propose, score, verify).
    """

    speculative: Trace
    target_only: TargetRun
    speculative_latency: Latency
    target_latency: Latency
    speculative_token_seconds: tuple[float, ...]
    target_token_seconds: tuple[float, ...]
    costs: Costs
    stage_shares: tuple[tuple[float, float, float], ...] = ()

    @property
    def shares(self) -> tuple[float, float, float]:
        """The stages' shares: the medians over the runs, scaled so that their sum is 1.

        One run that was held up doesn't move them.
        """
        runs = self.stage_shares or (stage_shares(self.speculative),)
        middle = [median(stage) for stage in zip(*runs, strict=True)]
        total = sum(middle) or 1.0
        propose, score, verify = (share / total for share in middle)
        return propose, score, verify

    @property
    def speedup(self) -> float:
        """Speed-up of a token: the medians are compared."""
        return median(self.target_token_seconds) / median(self.speculative_token_seconds)


class SweepPoint(NamedTuple):
    """One draft length: what it gave, and what the formula gives for its costs.

    `measured` and `predicted` are speed-ups over target-only decoding.

    Args:
        spread: of the measured speed-ups of the runs at this length, the lowest and the highest;
            None where they are not known.
        runs: how many there were.
    """

    draft_length: int
    measured: float
    predicted: float
    tokens_per_round: float
    acceptance_rate: float
    spread: tuple[float, float] | None = None
    runs: int = 1

    @property
    def disagrees(self) -> bool:
        """Return whether the prediction lies beyond the spread, and far from the measurement."""
        low, high = self.spread or (self.measured, self.measured)
        far = abs(self.predicted - self.measured) > FAR * self.measured
        return far and not low <= self.predicted <= high


class LengthSweep(NamedTuple):
    """A draft-length sweep.

    `alpha` is the mean over all of its runs; None where nothing was drafted. What it says of a
    length it says of measured ones alone: nothing is carried on beyond them.
    """

    points: tuple[SweepPoint, ...]
    alpha: float | None
    costs: Costs

    @property
    def best(self) -> int | None:
        """The measured length with the highest predicted speed-up."""
        if self.alpha is None:
            return None
        return max(self.points, key=lambda point: point.predicted).draft_length

    @property
    def fastest(self) -> SweepPoint:
        """The length that was fastest as it was measured."""
        return max(self.points, key=lambda point: point.measured)

    @property
    def break_even(self) -> int | None:
        """The longest measured length that is predicted to be no slower than target-only."""
        if self.alpha is None:
            return None
        worth = [point.draft_length for point in self.points if point.predicted >= 1]
        return max(worth, default=None)

    @property
    def pays_to_the_end(self) -> bool:
        """Return whether the longest measured length still pays, so that longer ones may too."""
        return self.break_even == self.points[-1].draft_length


class TextCount(NamedTuple):
    """Counts of both methods' short runs with these tokens; the pooled rest has no tokens."""

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
            where there is only one outcome, be it all rare texts together.
    """

    runs: int
    tokens: int
    outcomes: tuple[TextCount, ...]
    chi_square: float
    degrees: int
    p_value: float | None


def speculative_latency(trace: Trace) -> float:
    """Seconds from the prompt to the last token, both prompts' processing included."""
    prompt = trace.prompt_step.seconds if trace.prompt_step else 0.0
    return prompt + sum(step.seconds.total + step.seconds.prefill for step in trace.rounds)


def stage_shares(trace: Trace) -> tuple[float, float, float]:
    """The shares of the rounds' time that propose, score and verify took; zeros without any."""
    seconds = [step.seconds for step in trace.rounds]
    total = sum(step.total for step in seconds) or 1.0
    return (
        sum(step.propose for step in seconds) / total,
        sum(step.score for step in seconds) / total,
        sum(step.verify for step in seconds) / total,
    )


def speculative_token_seconds(trace: Trace) -> float:
    """Seconds that a token took on average, the prompts left out."""
    return sum(step.seconds.total for step in trace.rounds) / max(1, len(trace.token_ids))
