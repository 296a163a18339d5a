"""Whether speculation paid on this machine, and why, in sentences with their numbers."""

from __future__ import annotations

from statistics import median

from core.decoding.speculative.metrics import counts, tokens_per_forward
from core.decoding.speculative.report import Comparison
from core.figures.base.labels import milliseconds

# Within this share of 1, runs of a few milliseconds can't be distinguished.
EVEN = 0.05


def verdict(found: Comparison) -> str:
    """`1.40 times faster here, because ...` or `Slower here, because ...`; plain text.

    What a round costs follows from the speed-up; the stages share it as in the last run.
    """
    times = (
        f"{milliseconds(median(found.speculative_token_seconds))} a token against "
        f"{milliseconds(median(found.target_token_seconds))} of the target alone."
    )
    rounds = found.speculative.rounds
    emitted = tokens_per_forward(rounds)
    spent = sum(step.seconds.total for step in rounds)
    if emitted is None or spent <= 0:
        return f"{_headline(found.speedup)}: {times}"
    cost = emitted / found.speedup
    propose = cost * sum(step.seconds.propose for step in rounds) / spent
    drafted = counts(rounds).drafted / len(rounds)
    what = f"drafting {drafted:.1f}" if found.speculative.draft_id else "looking them up"
    return (
        f"{_headline(found.speedup)}, because a round emits {emitted:.1f} tokens and takes as "
        f"long as {cost:.1f} tokens of the target alone ({what} takes {propose:.1f}, scoring and "
        f"verifying {cost - propose:.1f}): {times}"
    )


def _headline(speed: float) -> str:
    if abs(speed - 1) < EVEN:
        return "About as fast as the target alone"
    return (
        f"{speed:.2f} times faster here" if speed > 1 else f"Slower here, {speed:.2f} times as fast"
    )
