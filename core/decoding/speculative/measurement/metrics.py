"""The figures that speculative decoding is judged by, each with its source; torch-free.

A rate without anything to count is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.decoding.speculative.config import Acceptance
from core.decoding.speculative.types import DraftRound

PERCENTILES = (10, 25, 50, 75, 90, 99)


class Counts(NamedTuple):
    """Tokens of a run by what became of them.

    `passed` counts every drafted token whose own verification holds, also behind a rejection;
    `reached` those that were tried in earnest; `emitted` what came out. Each round is one target
    forward; the prompt's comes before them.
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
    """Verifications at one draft position (from 0) over all rounds."""

    position: int
    drafted: int
    reached: int
    accepted: int

    @property
    def rate(self) -> float:
        """Accepted over drafted: vLLM v1's acceptance rate per position, which falls with it."""
        return self.accepted / self.drafted

    @property
    def rate_when_reached(self) -> float | None:
        """Accepted over reached."""
        return self.accepted / self.reached if self.reached else None


class VerifyCost(NamedTuple):
    """Seconds that scoring and verifying so many drafted tokens took; the median of the rounds."""

    draft_length: int
    seconds: float
    rounds: int = 1


class Costs(NamedTuple):
    """Measured seconds on this machine.

    Args:
        draft: of one drafted token.
        target: of one token of target-only decoding.
        verify: by rising draft length; empty where no round was made.
    """

    draft: float
    target: float
    verify: tuple[VerifyCost, ...]

    def verify_seconds(self, draft_length: float) -> float:
        """Seconds that a round of this length, among the measured ones, takes to score and verify.

        The line nearest to all measured rounds (least squares) that doesn't fall: a longer draft is
        no less work, and a length that one round alone had is mostly noise. Nothing lies below the
        quickest measured length.
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
    """Drafted, accepted and emitted tokens."""
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
    """Accepted over drafted tokens, where acceptance ends with the first rejection.

    vLLM v1's `draft_acceptance_rate` (vllm/v1/spec_decode/metrics.py) and transformers' matches.
    """
    tokens = counts(rounds)
    return tokens.accepted / tokens.drafted if tokens.drafted else None


def vllm_acceptance_rate(rounds: Sequence[DraftRound]) -> float | None:
    """Tokens whose own verification holds over drafted tokens, behind a rejection too.

    vLLM v0's `draft_acceptance_rate` (vllm/spec_decode/metrics.py counts the rejection sampler's
    `accepted` before it cuts at the first rejection).
    """
    tokens = counts(rounds)
    return tokens.passed / tokens.drafted if tokens.drafted else None


def acceptance_by_position(rounds: Sequence[DraftRound]) -> tuple[PositionRate, ...]:
    """Verifications at each draft position (vLLM v1, `acceptance rate per position`)."""
    longest = max((len(step.drafted) for step in rounds), default=0)
    rates = []
    for position in range(longest):
        tokens = [step.drafted[position] for step in rounds if position < len(step.drafted)]
        reached = sum(token.outcome != "not_reached" for token in tokens)
        accepted = sum(token.outcome == "accepted" for token in tokens)
        rates.append(PositionRate(position, len(tokens), reached, accepted))
    return tuple(rates)


def system_efficiency(rounds: Sequence[DraftRound]) -> float | None:
    """Emitted tokens over those that rounds without any rejection would have emitted.

    That is the sum of each round's drafted + 1, however many tokens it drafted.
    """
    possible = sum(len(step.drafted) + 1 for step in rounds)
    return counts(rounds).emitted / possible if possible else None


def vllm_system_efficiency(rounds: Sequence[DraftRound], draft_length: int) -> float | None:
    """vLLM v0's `system_efficiency`: emitted / ((drafted / k) * (k + 1)), k the set draft length.

    vLLM drafts k tokens or none, so that only then it equals `system_efficiency`. Rounds that
    draft nothing don't count: its rejection sampler, which counts, never sees them
    (vllm/spec_decode/metrics.py, vllm/model_executor/layers/spec_decode_base_sampler.py).
    """
    tokens = counts([step for step in rounds if step.drafted])
    possible = tokens.drafted / draft_length * (draft_length + 1) if draft_length else 0.0
    return tokens.emitted / possible if possible else None


class StageTimes(NamedTuple):
    """vLLM v0's stage times of speculative decoding, in ms, under its own names.

    Its `SpecDecodeWorker` logs those of one step; here they are means over the rounds that drafted.

    Args:
        average_time_per_proposal_tok_ms: proposing, over the drafted tokens.
        scoring_time_ms: the target's forward, a round.
        verification_time_ms: a round; shaping included, which vLLM does as it scores.
    """

    average_time_per_proposal_tok_ms: float
    scoring_time_ms: float
    verification_time_ms: float


def vllm_stage_times(rounds: Sequence[DraftRound]) -> StageTimes | None:
    """The means over the rounds that drafted; None where none did."""
    steps = [step for step in rounds if step.drafted]
    if not steps:
        return None
    return StageTimes(
        1000 * sum(step.seconds.propose for step in steps) / counts(steps).drafted,
        1000 * sum(step.seconds.score for step in steps) / len(steps),
        1000 * sum(step.seconds.verify for step in steps) / len(steps),
    )


def tokens_per_round(rounds: Sequence[DraftRound]) -> float | None:
    """Emitted tokens a round ("block efficiency", tau); the prompt's forward is no round."""
    return counts(rounds).emitted / len(rounds) if rounds else None


def alpha(rounds: Sequence[DraftRound], acceptance: Acceptance = "speculative") -> float | None:
    """The mean acceptance probability, E[beta] with beta = sum(min(target, draft)).

    Leviathan et al. 2023, definition 3.1 and corollary 3.6, over the positions that were tried. Of
    the other rules, whose acceptance is another, the mean `accept_prob`.
    """
    tried = [t for step in rounds for t in step.drafted if t.outcome != "not_reached"]
    if not tried:
        return None
    plain = acceptance == "speculative"
    values = [1 - t.residual_mass if plain else t.accept_prob for t in tried]
    return sum(values) / len(values)


def expected_tokens(alpha: float, draft_length: int) -> float:
    """Tokens a round, (1 - alpha^(k+1)) / (1 - alpha) (Leviathan et al. 2023, equation 1)."""
    return sum(alpha**position for position in range(draft_length + 1))


def expected_tokens_per_round(alpha: float, rounds: Sequence[DraftRound]) -> float | None:
    """The mean over the rounds, each with as many tokens as were drafted in it.

    A threshold, an adaptive length and the end of a run make that another number than draft_length.
    """
    if not rounds:
        return None
    return sum(expected_tokens(alpha, len(step.drafted)) for step in rounds) / len(rounds)


def expected_speedup(alpha: float, rounds: Sequence[DraftRound], costs: Costs) -> float:
    """Speed-up of rounds of these lengths over target-only decoding: tokens over (k c + v).

    Leviathan et al. 2023, theorem 3.8, with verification that isn't free: c is a drafted token's
    seconds and v the verification's, both over those of a target-only token. Over rounds of
    different length both sides are summed. 0 where no time was measured.
    """
    lengths = [len(step.drafted) for step in rounds]
    took = sum(k * costs.draft + costs.verify_seconds(k) for k in lengths)
    tokens = sum(expected_tokens(alpha, k) for k in lengths)
    return tokens * costs.target / took if took > 0 else 0.0


def percentiles(
    values: Sequence[float], which: Sequence[int] = PERCENTILES
) -> tuple[tuple[int, float], ...]:
    """(percentile, value), interpolated linearly as numpy does (vLLM's latency benchmark)."""
    ordered = sorted(values)
    points = []
    for percent in which if ordered else ():
        place = (len(ordered) - 1) * percent / 100
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        points.append((percent, ordered[low] + (ordered[high] - ordered[low]) * (place - low)))
    return tuple(points)


def supported(count: int, which: Sequence[int] = PERCENTILES) -> tuple[int, ...]:
    """The percentiles that so many values can tell: one of them at least lies beyond.

    The median is always one. Of 5 values the 10th percentile would be made up between two.
    """
    return tuple(p for p in which if p == 50 or count * min(p, 100 - p) >= 100)
