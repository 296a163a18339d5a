"""Fields of stored attempts, votes and samples that follow from others, computed anew; no torch.

A file's own word for them is not believed: whether an answer is right, what each rule chose, how
wide an interval is.
"""

from __future__ import annotations

from dataclasses import replace

from core.decoding.reasoning.transcript import read_run
from core.decoding.record.steps import FinishReason
from core.evaluation.scoring.answers import judge
from core.evaluation.scoring.intervals import wilson
from core.evaluation.scoring.verifier import check_arithmetic, worked_out
from core.evaluation.types import Attempt, Problem, Rivalry, StopStrip, Transcript, Vote
from core.evaluation.votes.ballots import vote
from core.evaluation.votes.best_of import SampledProblems


def attempt_anew(problem: Problem, attempt: Attempt) -> Attempt:
    """The attempt with the answer that its text gives, and its outcome."""
    answer, outcome = judge(attempt.answer_text, problem.answer, attempt.finish_reason)
    return replace(attempt, problem=problem.key, answer=answer, outcome=outcome)


def transcript_anew(stored: Transcript) -> Transcript:
    """The transcript whose attempt is what its tokens give."""
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
    """The vote that its attempts give; where it had a verifier, arithmetic's."""
    attempts = [attempt_anew(stored.problem, attempt) for attempt in stored.attempts]
    verifier = check_arithmetic if stored.scores else None
    made = vote(stored.problem, attempts, verifier, stored.rewards)
    return replace(made, model_id=stored.model_id, config=stored.config)


def strip_anew(stored: StopStrip) -> StopStrip:
    """The strip with the answers that its texts give; a point that was cut off stays one."""
    points = []
    for point in stored.points:
        ended: FinishReason = "length" if point.outcome == "truncated" else "eos"
        answer, outcome = judge(point.answer_text, stored.problem.answer, ended)
        points.append(replace(point, answer=answer, outcome=outcome))
    return replace(stored, points=tuple(points))


def rivalry_anew(stored: Rivalry) -> Rivalry:
    """The rivalry with its intervals and the votes that it still has.

    Raises:
        ValueError: more right answers than problems, or other problems than it names.
    """
    total = len(stored.problems.problems)
    if any(rival.correct.total != total for rival in stored.rivals):
        raise ValueError("A rival's total must be the number of problems.")
    rivals = [replace(rival, correct=wilson(rival.correct.hits, total)) for rival in stored.rivals]
    return replace(stored, rivals=tuple(rivals), votes=tuple(map(vote_anew, stored.votes)))


def best_of_anew(stored: SampledProblems) -> SampledProblems:
    """The samples with whether their answers are right, and pass an arithmetic check."""
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
