"""Verdict on speculative decoding on this machine, in sentences with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from core.decoding.speculative.measurement.metrics import counts, tokens_per_round
from core.decoding.speculative.measurement.report import Comparison
from core.figures.base.labels import milliseconds

# Speed-ups closer to 1 can't be distinguished for runs of a few milliseconds.
EVEN = 0.05


def verdict(found: Comparison) -> str:
    """Return `1.40 times faster here, because ...` or `Slower here, because ...`; plain text.

    A round's mean cost follows from the speed-up, and is divided among the stages by their means in
    each run. The metrics' costs are medians over rounds, which a few slow rounds don't raise.
    """
    times = (
        f"{milliseconds(median(found.speculative_token_seconds))} a token against "
        f"{milliseconds(median(found.target_token_seconds))} of the target alone "
        f"({runs_words(found.speculative_token_seconds, found.target_token_seconds)})."
    )
    rounds = found.speculative.rounds
    emitted = tokens_per_round(rounds)
    shares = found.shares
    if emitted is None or not any(shares):
        return f"{_headline(found.speedup)}: {times}"
    cost = emitted / found.speedup
    propose = cost * shares[0]
    drafted = counts(rounds).drafted / len(rounds)
    what = f"drafting {drafted:.1f}" if found.speculative.draft_id else "looking them up"
    return (
        f"{_headline(found.speedup)}, because a round emits {emitted:.1f} tokens and takes, on "
        f"average, as long as {cost:.1f} tokens of the target alone ({what} takes "
        f"{propose:.1f}, scoring and verifying {cost - propose:.1f}): {times}"
    )


def runs_words(own: Sequence[float], alone: Sequence[float]) -> str:
    """Return the number of runs behind the medians, and their spread."""
    if len(own) == 1:
        return "one run of each, so that its spread is not known"
    spans = [f"{milliseconds(min(times))} to {milliseconds(max(times))}" for times in (own, alone)]
    return f"medians of {len(own)} runs of each: {spans[0]}, and {spans[1]}"


def _headline(speed: float) -> str:
    if abs(speed - 1) < EVEN:
        return "About as fast as the target alone"
    return (
        f"{speed:.2f} times faster here" if speed > 1 else f"Slower here, {speed:.2f} times as fast"
    )
