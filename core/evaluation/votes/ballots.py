"""Vote on the attempts at a problem by each rule; no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..types import Attempt, Ballot, Problem, Vote

VerifierFunction: TypeAlias = Callable[[Problem, str], float]
"""From a problem and an answer to a score: the higher the better, 0 and less for a wrong one."""


def best_place(answers: Sequence[str | None], scores: Sequence[float | None]) -> int | None:
    """Return the index of the answer with the highest score, the first one on a tie.

    None if no attempt has an answer and a score.
    """
    scored = zip(answers, scores, strict=True)
    known = [(s, -at) for at, (a, s) in enumerate(scored) if a is not None and s is not None]
    return -max(known)[1] if known else None


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
    passed = [score if score > 0 else None for score in scores]
    return Vote(
        problem=problem,
        attempts=tuple(attempts),
        ballots=tuple(Ballot(*ballot) for ballot in ballots),
        margin=ballots[0][1] - second if ballots else 0,
        best=best_place(answers, [attempt.mean_logprob for attempt in attempts]),
        scores=scores,
        verified=best_place(answers, passed) if scores else None,
        rewards=tuple(rewards),
        rewarded=best_place(answers, rewards) if rewards else None,
    )
