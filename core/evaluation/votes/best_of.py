"""One answer out of N samples by several rules, at the same samples; no torch.

Majority vote (self-consistency, Wang et al. 2022), the highest mean log-probability, the highest
score of a reward model (best of N, Cobbe et al. 2021), and the first that an arithmetic check
passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.decoding.reasoning.config import Reasoning
from core.evaluation.plan.types import Evaluation
from core.evaluation.scoring.answers import find_answer, normal_number
from core.evaluation.scoring.intervals import wilson_of_groups
from core.evaluation.scoring.text import normalised
from core.evaluation.scoring.verifier import worked_out
from core.evaluation.types import RULES, AnswerRule, Share, Vote

SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the samples of a question.

    Args:
        text: what was written.
        answer: what a vote counts; None where it gives none.
        mean_logprob: of its tokens, in nats; None where the run has no such number.
        reward: of a reward model; None without one, or where it doesn't fit.
        passed: whether an arithmetic check finds it right; None where it can't read the question.
    """

    text: str
    answer: str | None
    right: bool
    mean_logprob: float | None
    reward: float | None = None
    passed: bool | None = None


@dataclass(frozen=True, slots=True)
class Sampled:
    """A question with its samples in order of seeds."""

    question: str
    expected: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class SampledProblems:
    """Samples of reasoning problems, and what they were drawn with.

    Args:
        problems: how many and where from, in words.
        config: the seed is each first sample's.
        reward: the reward model's id.
    """

    sampled: tuple[Sampled, ...]
    problems: str
    model_id: str
    config: Reasoning
    reward: str


class RulePoint(NamedTuple):
    """How often a rule is right that chooses among so many samples."""

    rule: AnswerRule
    samples: int
    correct: Share


def chosen(samples: Sequence[Sample], rule: AnswerRule) -> Sample | None:
    """The sample that a rule takes, the first of equals; None where none has an answer for it."""
    named = [one for one in samples if one.answer is not None]
    if rule == "majority":
        votes = Counter(one.answer for one in named)
        return max(named, key=lambda one: votes[one.answer], default=None)
    if rule == "verifier":
        return next((one for one in named if one.passed), None)
    if rule not in ("best_of_n", "reward"):
        return samples[0] if samples else None
    scores = [one.mean_logprob if rule == "best_of_n" else one.reward for one in named]
    known = [(score, -at) for at, score in enumerate(scores) if score is not None]
    return named[-max(known)[1]] if known else None


def rules_of(sampled: Sequence[Sampled]) -> tuple[AnswerRule, ...]:
    """The rules that every question has what they need for."""
    every = [one for each in sampled for one in each.samples]
    has = {
        "best_of_n": any(one.mean_logprob is not None for one in every),
        "reward": any(one.reward is not None for one in every),
        "verifier": bool(every) and all(one.passed is not None for one in every),
    }
    return tuple(rule for rule in RULES if has.get(rule, bool(every)) and rule != "single")


def by_samples(sampled: Sequence[Sampled]) -> tuple[RulePoint, ...]:
    """Each rule at 1, 2, 4, ... samples, up to as many as every question has.

    Of 16 samples there are 4 trials of 4: a question's trials are its samples in blocks. They are
    alike, so the interval is one over questions (`wilson_of_groups`).
    """
    most = min((len(each.samples) for each in sampled), default=0)
    return tuple(
        RulePoint(rule, size, wilson_of_groups([_trials(each, rule, size) for each in sampled]))
        for rule in rules_of(sampled)
        for size in SIZES
        if size <= most
    )


def _trials(each: Sampled, rule: AnswerRule, size: int) -> tuple[int, int]:
    """How many blocks of so many samples a rule gets right, and how many there are."""
    blocks = [each.samples[at : at + size] for at in range(0, len(each.samples), size)]
    found = [chosen(block, rule) for block in blocks if len(block) == size]
    return sum(one is not None and one.right for one in found), len(found)


class Mistake(NamedTuple):
    """A question whose highest rewarded sample is wrong though another one is right."""

    sampled: Sampled
    taken: Sample
    better: Sample


def mistakes(sampled: Iterable[Sampled]) -> tuple[Mistake, ...]:
    """Where the reward model errs among all samples, beside the right one that it ranks highest."""
    found = []
    for each in sampled:
        taken = chosen(each.samples, "reward")
        better = chosen([one for one in each.samples if one.right], "reward")
        if taken is not None and better is not None and not taken.right:
            found.append(Mistake(each, taken, better))
    return tuple(found)


def shortened_texts(sampled: Sequence[Sampled]) -> tuple[Sampled, ...]:
    """The same without the texts that no mistake shows."""
    shown = {id(one) for each in mistakes(sampled) for one in (each.taken, each.better)}
    return tuple(
        replace(
            each,
            samples=tuple(
                one if id(one) in shown else replace(one, text="") for one in each.samples
            ),
        )
        for each in sampled
    )


def of_votes(votes: Iterable[Vote]) -> tuple[Sampled, ...]:
    """The samples of votes on problems with a known answer."""
    return tuple(_of_vote(vote) for vote in votes if vote.problem.answer)


def _of_vote(vote: Vote) -> Sampled:
    rewards = vote.rewards or (None,) * len(vote.attempts)
    checks = vote.scores and worked_out(vote.problem.question) is not None
    samples = [
        Sample(
            text=f"{one.thinking} {one.answer_text}".strip(),
            answer=one.answer,
            right=one.outcome == "correct",
            mean_logprob=one.mean_logprob,
            reward=reward,
            passed=vote.scores[at] > 0 if checks else None,
        )
        for at, (one, reward) in enumerate(zip(vote.attempts, rewards, strict=True))
    ]
    return Sampled(vote.problem.question, vote.problem.answer, tuple(samples))


def of_way(evaluation: Evaluation, way: str) -> tuple[Sampled, ...]:
    """The samples of one way's questions, where all of them are there.

    A vote counts numbers where the reference answer is one, else replies as they are normalised.
    """
    wanted = evaluation.plan.way(way).samples
    rows = {
        (row.question, row.sample): row
        for row in evaluation.rows
        if row.way == way and not row.failure
    }
    found = []
    for question in evaluation.plan.questions.questions:
        own = [rows.get((question.key, at)) for at in range(wanted)]
        whole = [row for row in own if row is not None]
        if len(whole) < wanted:
            continue
        number = normal_number(question.answers[0]) is not None
        right = worked_out(question.question)
        samples = []
        for row in whole:
            answer = find_answer(row.reply) if number else normalised(row.reply) or None
            passed = None if right is None else answer == right
            samples.append(
                Sample(row.text, answer, row.right, row.mean_logprob, row.reward, passed)
            )
        found.append(Sampled(question.question, question.answers[0], tuple(samples)))
    return tuple(found)
