"""Other candidates of a run's steps, and how the ending differs where one of them is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ..validation import ShortRepr
from .steps import Candidate, TokenStep
from .trace import Trace

# Tokens in a row that two endings need in common to count as together again.
LEAST_COMMON = 4
# Of fork points of a run, and of steps in a row that a growth forks.
MOST_FORKS, MOST_DEPTH = 32, 8
# Of the likeliest tokens of a step, whose runs go on in one batch.
MOST_GROWN = 8


@dataclass(frozen=True, slots=True, repr=False)
class ForkPoint(ShortRepr):
    """A step of a run, and the run that goes on from it with the step's other candidate.

    The ending of either run begins with its token at the step.

    Args:
        at_step: place of the step among the run's.
        trace: the run with the other candidate.
        length: number of tokens of the ending of `trace`.
        changed: how many of them stand in no longest common subsequence of the two endings.
        logprob_change: mean ln p of the tokens of its ending, less that of the run's own ending;
            nats per token.
        together_after: number of tokens of its ending after which both endings have the same
            tokens as far as both go; None if they never have `LEAST_COMMON` in a row.
    """

    at_step: int
    step: TokenStep
    other: Candidate
    trace: Trace
    length: int
    changed: int
    logprob_change: float
    together_after: int | None

    @property
    def share(self) -> float:
        """Share of the ending's tokens that differ."""
        return self.changed / self.length


def other_candidate(step: TokenStep) -> Candidate | None:
    """Return the most probable candidate that the step did not emit; None without one."""
    others = (c for c in step.candidates if c.token_id != step.token_id and c.raw_prob > 0)
    return min(others, key=lambda candidate: candidate.rank, default=None)


def steps_to_fork(trace: Trace, count: int) -> list[int]:
    """Return the places of the steps with the most entropy that have another candidate, in order.

    Args:
        count: so many steps at most.
    """
    steps = [(-step.entropy, at) for at, step in enumerate(trace.token_steps)]
    forked = (at for _, at in sorted(steps) if other_candidate(trace.token_steps[at]))
    return sorted(islice(forked, count))


def candidates_above(step: TokenStep, least: float) -> list[Candidate]:
    """Return the other candidates with at least this probability by the model, likeliest first."""
    others = [c for c in step.candidates if c.token_id != step.token_id and c.raw_prob >= least]
    return sorted(others, key=lambda candidate: candidate.rank)


def fork_point(run: Trace, at_step: int, other: Candidate, trace: Trace) -> ForkPoint:
    """Compare the ending of a run with that of the run that goes on from one of its steps."""
    own, ending = run.token_ids[at_step:], trace.token_ids[at_step:]
    return ForkPoint(
        at_step=at_step,
        step=run.token_steps[at_step],
        other=other,
        trace=trace,
        length=len(ending),
        changed=len(ending) - common_tokens(own, ending),
        logprob_change=_mean_logprob(trace, at_step) - _mean_logprob(run, at_step),
        together_after=together_after(own, ending),
    )


def by_effect(points: Sequence[ForkPoint]) -> list[ForkPoint]:
    """Return fork points, the one that changes the largest share of its ending first."""
    return sorted(points, key=lambda point: (-point.share, -point.changed, point.at_step))


def _mean_logprob(trace: Trace, at_step: int) -> float:
    steps = trace.token_steps[at_step:]
    return -sum(step.surprisal for step in steps) / len(steps)


def common_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of a longest common subsequence.

    Bit-parallel, a whole number as the row of the table: Hyyrö 2004, "Bit-parallel LCS-length
    computation revisited".
    """
    places: dict[int, int] = {}
    for at, token_id in enumerate(one):
        places[token_id] = places.get(token_id, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for token_id in other:
        matched = row & places.get(token_id, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(one) - row.bit_count()


def together_after(own: Sequence[int], ending: Sequence[int]) -> int | None:
    """Return the number of tokens of `ending` before it goes on as `own` does, as far as both go.

    Either may have more or fewer tokens before that place; of several places the first counts.
    None if they have fewer than `LEAST_COMMON` tokens in a row there.
    """
    found = None
    for shift in range(1 - len(ending), len(own)):
        first = max(0, -shift)
        last = min(len(ending), len(own) - shift)
        at = last
        while at > first and ending[at - 1] == own[at - 1 + shift]:
            at -= 1
        if last - at >= LEAST_COMMON and (found is None or at < found):
            found = at
    return found
