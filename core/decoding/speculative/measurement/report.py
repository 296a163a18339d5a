"""Results of measuring speculative decoding and target-only decoding on the same machine.

Torch-free, so that a stored report can be drawn; `measure.py` makes it.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from ...record.steps import StepSeconds
from ...record.trace import Trace
from ..sources import Drafter
from .metrics import Costs, expected_tokens, percentiles, supported

# Relative difference from which on a prediction counts as different from the measured speed-up.
FAR = 0.1


class Latency(NamedTuple):
    """Seconds of repeated runs from the prompt to the last token, without recording."""

    seconds: tuple[float, ...]

    @property
    def percentiles(self) -> tuple[tuple[int, float], ...]:
        """Pairs (percentile, seconds) for those of 10, 25, 50, 75, 90, 99 that the runs support."""
        return percentiles(self.seconds, supported(len(self.seconds)))


class TargetRun(NamedTuple):
    """Run of target-only decoding, timed like a round.

    Args:
        prefill: seconds for the prompt, whose last position gives the first token.
        seconds: seconds of each token; the first token's forward was the prompt's.
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
        """Mean seconds per token, without the first token if there are others."""
        later = self.seconds[1:] or self.seconds
        return sum(step.total for step in later) / max(1, len(later))


class Comparison(NamedTuple):
    """Speculative and target-only runs, taken in turns.

    Args:
        speculative: the last speculative run; `target_only` is the last target-only run.
        speculative_token_seconds: seconds per generated token of every speculative run, without
            prompt and recording; `target_token_seconds` holds those of target-only runs.
        costs: medians over the runs.
        stage_shares: for every speculative run, the shares of its rounds' time for the stages
            propose, score and verify.
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
        """The stages' shares: medians over the runs, scaled to a sum of 1.

        A single delayed run doesn't change them.
        """
        runs = self.stage_shares or (stage_shares(self.speculative),)
        middle = [median(stage) for stage in zip(*runs, strict=True)]
        total = sum(middle) or 1.0
        propose, score, verify = (share / total for share in middle)
        return propose, score, verify

    @property
    def speedup(self) -> float:
        """Speed-up per token: the ratio of the medians."""
        return median(self.target_token_seconds) / median(self.speculative_token_seconds)


class SweepPoint(NamedTuple):
    """Measured and predicted speed-up of one draft length.

    Both are relative to target-only decoding.

    Args:
        spread: lowest and highest measured speed-up of the runs at this length; None if unknown.
        runs: number of runs.
        rounds: number of rounds of these runs.
        acceptance_interval, tokens_interval: 95 % intervals over the rounds; None for one round.
    """

    draft_length: int
    measured: float
    predicted: float
    tokens_per_round: float
    acceptance_rate: float
    spread: tuple[float, float] | None = None
    runs: int = 1
    rounds: int = 0
    acceptance_interval: tuple[float, float] | None = None
    tokens_interval: tuple[float, float] | None = None

    @property
    def disagrees(self) -> bool:
        """True if the prediction lies outside the spread and far from the measurement."""
        low, high = self.spread or (self.measured, self.measured)
        far = abs(self.predicted - self.measured) > FAR * self.measured
        return far and not low <= self.predicted <= high


class LengthSweep(NamedTuple):
    """Draft-length sweep: speed-ups at several draft lengths.

    `alpha` is the mean over all of its runs; None if nothing was drafted. All statements concern
    measured lengths; nothing is extrapolated.
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
        """The length with the highest measured speed-up."""
        return max(self.points, key=lambda point: point.measured)

    @property
    def break_even(self) -> int | None:
        """The longest measured draft length whose predicted time is no longer than that of the
        target alone.
        """
        if self.alpha is None:
            return None
        worth = [point.draft_length for point in self.points if point.predicted >= 1]
        return max(worth, default=None)

    @property
    def pays_to_the_end(self) -> bool:
        """True if the longest measured length is still faster, so that longer ones may be too."""
        return self.break_even == self.points[-1].draft_length


class SourceRow(NamedTuple):
    """Runs with one source and shape of drafts.

    Args:
        shape: widths of a static tree, number of nodes of a dynamic one; empty for others.
        acceptance: None if nothing was drafted.
        token_seconds: median over the runs, without prompt and recording.
        speedup: against target-only runs taken in turns.
        spread: lowest and highest speed-up of the runs.
    """

    drafter: Drafter
    shape: str
    dynamic: bool
    acceptance: float | None
    tokens_per_round: float
    token_seconds: float
    speedup: float
    spread: tuple[float, float]


class TextCount(NamedTuple):
    """Counts of both methods' short runs with these tokens; the pooled rest has no tokens."""

    token_ids: tuple[int, ...]
    text: str
    speculative: int
    target_only: int


class Losslessness(NamedTuple):
    """Counts of many short runs of both methods, and the test of equal distributions.

    Args:
        runs: number of runs of each method.
        outcomes: outcomes by falling count; those too rare for the test are pooled in the last one.
        chi_square: statistic of Pearson's test of homogeneity.
        p_value: probability that two samples of one distribution differ this much or more; None for
            a single outcome, even a pooled one.
    """

    runs: int
    tokens: int
    outcomes: tuple[TextCount, ...]
    chi_square: float
    degrees: int
    p_value: float | None


def speculative_latency(trace: Trace) -> float:
    """Return the seconds from the prompt to the last token, both models' prompt processing
    included.
    """
    prompt = trace.prompt_step.seconds if trace.prompt_step else 0.0
    return prompt + sum(step.seconds.total + step.seconds.prefill for step in trace.rounds)


def stage_shares(trace: Trace) -> tuple[float, float, float]:
    """Return the shares of the rounds' time for propose, score and verify; zeros without rounds."""
    seconds = [step.seconds for step in trace.rounds]
    total = sum(step.total for step in seconds) or 1.0
    return (
        sum(step.propose for step in seconds) / total,
        sum(step.score for step in seconds) / total,
        sum(step.verify for step in seconds) / total,
    )


def speculative_token_seconds(trace: Trace) -> float:
    """Return the mean seconds per token, without prompt processing."""
    return sum(step.seconds.total for step in trace.rounds) / max(1, len(trace.token_ids))


class ExitCell(NamedTuple):
    """A layer's prediction at one token of a run.

    Args:
        token_id, text: the layer's most probable token.
        prob: its probability before shaping.
        accept: probability that a token drafted here is accepted: the sum of min(target, draft).
    """

    token_id: int
    text: str
    prob: float
    accept: float


class ExitLayer(NamedTuple):
    """An exit layer with one cell for each token of the run."""

    layer: int
    cells: tuple[ExitCell, ...]

    @property
    def alpha(self) -> float:
        """Mean acceptance probability (Leviathan et al. 2023, corollary 3.6)."""
        return sum(cell.accept for cell in self.cells) / len(self.cells) if self.cells else 0.0


class ExitLayers(NamedTuple):
    """Acceptance of every exit layer over the tokens of a run.

    Args:
        layers: number of the target's layers.
        draft_length: drafted tokens in a round, for the expected speed-up.
        texts: texts of the run's tokens.
    """

    layers: int
    draft_length: int
    token_ids: tuple[int, ...]
    texts: tuple[str, ...]
    exits: tuple[ExitLayer, ...]

    def speedup(self, exit_layer: ExitLayer) -> float:
        """Return the expected speed-up if a forward costs its share of the layers: tokens a round
        over (k c + 1), with c the exit's share (Leviathan et al. 2023, theorem 3.8). Embedding and
        output head are left out, so that real forwards of few layers cost more.
        """
        cost = exit_layer.layer / self.layers
        tokens = expected_tokens(exit_layer.alpha, self.draft_length)
        return tokens / (self.draft_length * cost + 1)
