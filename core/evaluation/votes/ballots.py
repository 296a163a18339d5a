"""Vote on the attempts at a problem by each rule; no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from core.evaluation.types import Attempt, Ballot, Problem, Vote

VerifierFunction: TypeAlias = Callable[[Problem, str], float]
"""From a problem and an answer to a score: the higher the better, 0 and less for a wrong one."""


def vote(
    problem: Problem,
    attempts: Sequence[Attempt],
    verifier: VerifierFunction | None = None,
    rewards: Sequence[float | None] = (),
) -> Vote:
    """Choose among the attempts by each rule; the first one wins a tie."""
    answers = [attempt.answer for attempt in attempts]
    # `most_common` keeps the order of first appearance among equals.
    ballots = Counter(answer for answer in answers if answer is not None).most_common()
    second = ballots[1][1] if len(ballots) > 1 else 0
    scores: tuple[float, ...] = ()
    if verifier is not None:
        scores = tuple(0.0 if a is None else float(verifier(problem, a)) for a in answers)
    named = [at for at, answer in enumerate(answers) if answer is not None]
    passed = [at for at, score in enumerate(scores) if score > 0]
    return Vote(
        problem=problem,
        attempts=tuple(attempts),
        ballots=tuple(Ballot(*ballot) for ballot in ballots),
        margin=ballots[0][1] - second if ballots else 0,
        best=max(named, key=lambda at: attempts[at].mean_logprob, default=None),
        scores=scores,
        verified=max(passed, key=lambda at: scores[at], default=None),
        rewards=tuple(rewards),
        rewarded=_highest(rewards, named),
    )


def _highest(rewards: Sequence[float | None], named: Sequence[int]) -> int | None:
    """The place with the highest reward among `named`; None where none has one."""
    known = {at: reward for at, reward in enumerate(rewards) if reward is not None and at in named}
    return max(known, key=known.__getitem__, default=None)
