"""Whether speculation paid on this machine, and why, in sentences with their numbers."""

from __future__ import annotations

from statistics import median

from core.decoding.configs import Speculative
from core.decoding.speculative_metrics import counts, tokens_per_forward
from core.decoding.speculative_report import Comparison
from core.figures.labels import milliseconds

# Within this share of 1, runs of a few milliseconds can't be told apart.
EVEN = 0.05


def verdict(found: Comparison) -> str:
    """`1.4 times faster`, or `slower here, because ...`; plain text."""
    return f"{_headline(found)} {_because(found)}"


def _headline(found: Comparison) -> str:
    speed = found.speedup
    times = (
        f"{milliseconds(median(found.speculative_token_seconds))} a token against "
        f"{milliseconds(median(found.target_token_seconds))} of the target alone"
    )
    if abs(speed - 1) < EVEN:
        return f"As fast as the target alone, within {EVEN:.0%}: {times}."
    if speed > 1:
        return f"{speed:.2f} times faster here: {times}."
    return f"Slower here, {speed:.2f} times the speed: {times}."


def _because(found: Comparison) -> str:
    """The account of a mean round in tokens of target-only decoding."""
    rounds, costs = found.speculative.rounds, found.costs
    emitted = tokens_per_forward(rounds)
    if emitted is None or costs.target <= 0:
        return ""
    drafted = counts(rounds).drafted / len(rounds)
    propose = sum(step.seconds.propose for step in rounds) / len(rounds) / costs.target
    verify = (
        sum(step.seconds.score + step.seconds.verify for step in rounds)
        / len(rounds)
        / costs.target
    )
    cost = propose + verify
    verb = "more" if cost > emitted else "less"
    lookup = isinstance(found.speculative.config, Speculative) and not found.speculative.draft_id
    proposing = "looking up" if lookup else f"drafting {drafted:.1f} tokens"
    return (
        f"A round emits {emitted:.1f} tokens and costs as much as {cost:.1f} tokens of the target "
        f"alone, which is {verb}: {proposing} costs {propose:.1f}, scoring and verifying "
        f"{verify:.1f}."
    )
