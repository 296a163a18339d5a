"""Recompute the derived fields of stored attempts, votes and samples; no torch.

A file's own values for these fields are not trusted: whether an answer is right, the choice of each
rule, the width of an interval.
"""

from __future__ import annotations

from dataclasses import replace

from ..decoding.reasoning.transcript import read_run
from ..decoding.record.steps import FinishReason
from .scoring.answers import judge
from .scoring.intervals import wilson
from .scoring.verifier import check_arithmetic, worked_out
from .types import Attempt, Problem, Rivalry, StopStrip, Transcript, Vote
from .votes.ballots import vote
from .votes.best_of import SampledProblems


def attempt_anew(problem: Problem, attempt: Attempt) -> Attempt:
    """Return the attempt with answer and outcome recomputed from its text."""
    answer, outcome = judge(attempt.answer_text, problem.answer, attempt.finish_reason)
    return replace(attempt, problem=problem.key, answer=answer, outcome=outcome)


def transcript_anew(stored: Transcript) -> Transcript:
    """Return the transcript with its attempt recomputed from its tokens."""
    reading = read_run(stored.pieces, stored.config)
    attempt = replace(
        stored.attempt,
        thinking=reading.thinking,
        answer_text=reading.answer,
        tokens=len(stored.pieces),
        thinking_tokens=reading.thinking_tokens,
        forced_tokens=reading.forced_tokens,
        closed_by_budget=reading.closed_by_budget,
    )
    return replace(stored, attempt=attempt_anew(stored.problem, attempt))


def vote_anew(stored: Vote) -> Vote:
    """Return the vote recomputed from its attempts; with scores, by the arithmetic verifier."""
    attempts = [attempt_anew(stored.problem, attempt) for attempt in stored.attempts]
    verifier = check_arithmetic if stored.scores else None
    made = vote(stored.problem, attempts, verifier, stored.rewards)
    return replace(made, model_id=stored.model_id, config=stored.config)


def strip_anew(stored: StopStrip) -> StopStrip:
    """Return the strip with answers recomputed from its texts; truncated points stay truncated."""
    points = []
    for point in stored.points:
        ended: FinishReason = "length" if point.outcome == "truncated" else "eos"
        answer, outcome = judge(point.answer_text, stored.problem.answer, ended)
        points.append(replace(point, answer=answer, outcome=outcome))
    return replace(stored, points=tuple(points))


def rivalry_anew(stored: Rivalry) -> Rivalry:
    """Return the rivalry with its intervals and stored votes recomputed.

    Raises:
        ValueError: more right answers than problems, or a wrong number of problems.
    """
    total = len(stored.problems.problems)
    if any(rival.correct.total != total for rival in stored.rivals):
        raise ValueError("A rival's total must be the number of problems.")
    rivals = [replace(rival, correct=wilson(rival.correct.hits, total)) for rival in stored.rivals]
    return replace(stored, rivals=tuple(rivals), votes=tuple(map(vote_anew, stored.votes)))


def best_of_anew(stored: SampledProblems) -> SampledProblems:
    """Return the samples with recomputed verdicts of the answers and of the arithmetic check."""
    sampled = []
    for each in stored.sampled:
        value = worked_out(each.question)
        samples = [
            replace(
                sample,
                right=sample.answer == each.expected,
                passed=None if value is None else sample.answer == value,
            )
            for sample in each.samples
        ]
        sampled.append(replace(each, samples=tuple(samples)))
    return replace(stored, sampled=tuple(sampled))
