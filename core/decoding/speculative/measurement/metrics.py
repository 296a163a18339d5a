"""Metrics of speculative decoding, each with its source; torch-free.

A rate of nothing is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from ..config import Acceptance
from ..types import DraftRound

# Of the 95 % interval of a normal distribution, in standard deviations.
_NORMAL = 1.96
PERCENTILES = (10, 25, 50, 75, 90, 99)


class Counts(NamedTuple):
    """Numbers of a run's tokens by outcome.

    `passed` counts every drafted token whose own verification passes, even after a rejection;
    `reached` counts the tokens whose verification mattered; `emitted` counts emitted tokens. Each
    round is one target forward; the prompt's forward comes first.
    """

    rounds: int
    drafted: int
    reached: int
    accepted: int
    passed: int
    recovered: int
    bonus: int
    emitted: int


class PositionRate(NamedTuple):
    """Verifications at one draft position (from 0) over all rounds; a tree's candidates at one
    position count as one.
    """

    position: int
    drafted: int
    reached: int
    accepted: int

    @property
    def rate(self) -> float:
        """Accepted over drafted tokens, which falls along positions: vLLM v1's acceptance rate per
        position.
        """
        return self.accepted / self.drafted

    @property
    def rate_when_reached(self) -> float | None:
        """Accepted over reached tokens."""
        return self.accepted / self.reached if self.reached else None


class VerifyCost(NamedTuple):
    """Seconds for scoring and verifying a number of drafted tokens, the median over rounds."""

    draft_length: int
    seconds: float
    rounds: int = 1


class Costs(NamedTuple):
    """Measured seconds on this machine.

    Args:
        draft: seconds of one drafted token.
        target: seconds of one token of target-only decoding.
        verify: costs by rising draft length; empty without rounds.
    """

    draft: float
    target: float
    verify: tuple[VerifyCost, ...]

    def verify_seconds(self, draft_length: float) -> float:
        """Return the seconds for scoring and verifying a round of this length.

        The value lies on the least-squares line through all measured rounds, with a slope of at
        least 0: a longer draft is no less work, and the time of a single round is mostly noise. It
        is never below the fastest measured length's.
        """
        weights = [point.rounds for point in self.verify]
        if not weights:
            return 0.0
        total = sum(weights)
        x = sum(point.draft_length * point.rounds for point in self.verify) / total
        y = sum(point.seconds * point.rounds for point in self.verify) / total
        spread = sum(p.rounds * (p.draft_length - x) ** 2 for p in self.verify)
        rise = sum(p.rounds * (p.draft_length - x) * (p.seconds - y) for p in self.verify)
        slope = max(0.0, rise / spread) if spread > 0 else 0.0
        return max(min(p.seconds for p in self.verify), y + slope * (draft_length - x))


def counts(rounds: Sequence[DraftRound]) -> Counts:
    """Return the numbers of drafted, accepted and emitted tokens."""
    drafted = [token for step in rounds for token in step.drafted]
    return Counts(
        rounds=len(rounds),
        drafted=len(drafted),
        reached=sum(token.outcome != "not_reached" for token in drafted),
        accepted=sum(token.outcome == "accepted" for token in drafted),
        passed=sum(token.passed for token in drafted),
        recovered=sum(step.recovered is not None for step in rounds),
        bonus=sum(step.bonus is not None for step in rounds),
        emitted=sum(len(step.token_ids) for step in rounds),
    )


def acceptance_rate(rounds: Sequence[DraftRound]) -> float | None:
    """Return accepted over drafted tokens; acceptance ends with the first rejection.

    Equal to vLLM v1's `draft_acceptance_rate` (vllm/v1/spec_decode/metrics.py) and transformers'
    matches.
    """
    tokens = counts(rounds)
    return tokens.accepted / tokens.drafted if tokens.drafted else None


def acceptance_interval(rounds: Sequence[DraftRound]) -> tuple[float, float] | None:
    """Return the 95 % interval of the acceptance rate over rounds; None for less than two rounds.

    A round is the unit, as its tokens are not independent: the variance is that of a ratio
    estimator (Cochran 1977, section 6.3).
    """
    pairs = [(len(step.accepted), len(step.drafted)) for step in rounds]
    accepted, drafted = (sum(column) for column in zip(*pairs, strict=True)) if pairs else (0, 0)
    if len(pairs) < 2 or not drafted:
        return None
    rate, count = accepted / drafted, len(pairs)
    squares = sum((one - rate * of) ** 2 for one, of in pairs)
    error = math.sqrt(squares * count / (count - 1)) / drafted
    return max(0.0, rate - _NORMAL * error), min(1.0, rate + _NORMAL * error)


def tokens_interval(rounds: Sequence[DraftRound]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean number of tokens a round; None for less than two."""
    if len(rounds) < 2:
        return None
    tokens = [len(step.token_ids) for step in rounds]
    error = stdev(tokens) / math.sqrt(len(tokens))
    return fmean(tokens) - _NORMAL * error, fmean(tokens) + _NORMAL * error


def vllm_acceptance_rate(rounds: Sequence[DraftRound]) -> float | None:
    """Return tokens whose own verification passes over drafted tokens, including those after a
    rejection.

    vLLM v0's `draft_acceptance_rate` (vllm/spec_decode/metrics.py counts the rejection sampler's
    `accepted` before it cuts at the first rejection).
    """
    tokens = counts(rounds)
    return tokens.passed / tokens.drafted if tokens.drafted else None


def acceptance_by_position(rounds: Sequence[DraftRound]) -> tuple[PositionRate, ...]:
    """Return the verifications at each draft position (vLLM v1, `acceptance rate per position`)."""
    longest = max((step.depth for step in rounds), default=0)
    rates = []
    for position in range(longest):
        drafts = [step.positions[position] for step in rounds if position < step.depth]
        outcomes = [[token.outcome for token in tokens] for tokens in drafts]
        reached = sum({*words} != {"not_reached"} for words in outcomes)
        accepted = sum("accepted" in words for words in outcomes)
        rates.append(PositionRate(position, len(drafts), reached, accepted))
    return tuple(rates)


def system_efficiency(rounds: Sequence[DraftRound]) -> float | None:
    """Return emitted tokens over the tokens that rounds without rejections would have emitted.

    The latter is the sum of each round's drafted positions + 1, however many it drafted.
    """
    possible = sum(step.depth + 1 for step in rounds)
    return counts(rounds).emitted / possible if possible else None


def vllm_system_efficiency(rounds: Sequence[DraftRound], draft_length: int) -> float | None:
    """Return vLLM v0's `system_efficiency`: emitted / ((drafted / k) * (k + 1)), with draft length
    k.

    vLLM drafts k tokens or none; only then it equals `system_efficiency`. Rounds that draft nothing
    don't count: the rejection sampler, which counts, never sees them (vllm/spec_decode/metrics.py,
    vllm/model_executor/layers/spec_decode_base_sampler.py).
    """
    steps = [step for step in rounds if step.drafted]
    positions = sum(step.depth for step in steps)
    possible = positions / draft_length * (draft_length + 1) if draft_length else 0.0
    return counts(steps).emitted / possible if possible else None


class StageTimes(NamedTuple):
    """vLLM v0's stage times of speculative decoding, in ms, under its own names.

    vLLM's `SpecDecodeWorker` logs single steps; here the times are means over rounds with drafted
    tokens.

    Args:
        average_time_per_proposal_tok_ms: time for proposing, divided by the drafted tokens.
        scoring_time_ms: time of the target's forward per round.
        verification_time_ms: time per round, shaping included; vLLM shapes during scoring.
    """

    average_time_per_proposal_tok_ms: float
    scoring_time_ms: float
    verification_time_ms: float


def vllm_stage_times(rounds: Sequence[DraftRound]) -> StageTimes | None:
    """Return the means over rounds with drafted tokens; None without such rounds."""
    steps = [step for step in rounds if step.drafted]
    if not steps:
        return None
    return StageTimes(
        1000 * sum(step.seconds.propose for step in steps) / counts(steps).drafted,
        1000 * sum(step.seconds.score for step in steps) / len(steps),
        1000 * sum(step.seconds.verify for step in steps) / len(steps),
    )


def tokens_per_round(rounds: Sequence[DraftRound]) -> float | None:
    """Return emitted tokens per round ("block efficiency", tau), without the prompt's forward."""
    return counts(rounds).emitted / len(rounds) if rounds else None


def alpha(rounds: Sequence[DraftRound], acceptance: Acceptance = "speculative") -> float | None:
    """Return the mean acceptance probability E[beta], with beta = sum(min(target, draft)).

    Leviathan et al. 2023, definition 3.1 and corollary 3.6, over the reached positions. For other
    acceptance rules, return the mean `accept_prob`.
    """
    positions = (tokens for step in rounds for tokens in step.siblings)
    tried = [tokens for tokens in positions if tokens[0].outcome != "not_reached"]
    if not tried:
        return None
    plain = acceptance in ("speculative", "block")
    # Siblings are verified one after the other: all must be rejected.
    values = [
        1 - math.prod(t.residual_mass if plain else 1 - t.accept_prob for t in tokens)
        for tokens in tried
    ]
    return sum(values) / len(values)


def expected_tokens(alpha: float, draft_length: int) -> float:
    """Return the tokens per round: (1 - alpha^(k+1)) / (1 - alpha) (Leviathan et al. 2023, equation
    1).
    """
    return sum(alpha**position for position in range(draft_length + 1))


def expected_tokens_per_round(alpha: float, rounds: Sequence[DraftRound]) -> float | None:
    """Return the mean over the rounds, each with its own number of drafted tokens.

    That number differs from draft_length with a threshold, an adaptive length, or at the end of a
    run.
    """
    if not rounds:
        return None
    return sum(expected_tokens(alpha, step.depth) for step in rounds) / len(rounds)


def expected_speedup(alpha: float, rounds: Sequence[DraftRound], costs: Costs) -> float:
    """Return the expected speed-up of rounds of these lengths over target-only decoding: tokens
    over (k c + v).

    Leviathan et al. 2023, theorem 3.8, with a cost of verification: c is the time of a drafted
    token and v the verification's, both divided by that of a target-only token. For rounds of
    different lengths numerator and denominator are summed. 0 without measured times.
    """
    lengths = [step.depth for step in rounds]
    took = sum(k * costs.draft + costs.verify_seconds(k) for k in lengths)
    tokens = sum(expected_tokens(alpha, k) for k in lengths)
    return tokens * costs.target / took if took > 0 else 0.0


def percentiles(
    values: Sequence[float], which: Sequence[int] = PERCENTILES
) -> tuple[tuple[int, float], ...]:
    """Return (percentile, value) pairs, interpolated linearly as in numpy (vLLM's latency
    benchmark).
    """
    ordered = sorted(values)
    points = []
    for percent in which if ordered else ():
        place = (len(ordered) - 1) * percent / 100
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        points.append((percent, ordered[low] + (ordered[high] - ordered[low]) * (place - low)))
    return tuple(points)


def supported(count: int, which: Sequence[int] = PERCENTILES) -> tuple[int, ...]:
    """Return the percentiles that this number of values supports: at least one value lies beyond
    each.

    The median is always supported. With 5 values, the 10th percentile would be a mere
    interpolation.
    """
    return tuple(p for p in which if p == 50 or count * min(p, 100 - p) >= 100)
