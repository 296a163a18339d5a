"""Choose one answer among N samples by several rules, for the same samples; no torch.

The rules are majority vote (self-consistency, Wang et al. 2022), the highest mean log-probability,
the highest score of a reward model (best of N, Cobbe et al. 2021), and the first answer that passes
an arithmetic check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...decoding.reasoning.config import Reasoning
from ..plan.types import Evaluation
from ..scoring.answers import find_answer, normal_number
from ..scoring.intervals import wilson_of_groups
from ..scoring.text import normalised
from ..scoring.verifier import worked_out
from ..types import RULES, AnswerRule, Share, Vote
from .ballots import best_place

SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the samples of a question.

    Args:
        text: the generated text.
        answer: the answer that a vote counts; None if there is none.
        mean_logprob: mean log-probability of its tokens, in nats; None if unknown.
        reward: score of a reward model; None without one, or if the text is too long.
        passed: True if an arithmetic check accepts it; None if it can't read the question.
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
    """Samples of reasoning problems, with model and settings.

    Args:
        problems: number and source of the problems, in words.
        config: the settings, with the seed of each problem's first sample.
        reward: the reward model's id.
    """

    sampled: tuple[Sampled, ...]
    problems: str
    model_id: str
    config: Reasoning
    reward: str


class RulePoint(NamedTuple):
    """Accuracy of a rule that chooses among this number of samples."""

    rule: AnswerRule
    samples: int
    correct: Share


def chosen(samples: Sequence[Sample], rule: AnswerRule) -> Sample | None:
    """Return the sample that a rule chooses, the first one on a tie; None if no answer has a score.

    `single` and `greedy` choose the first sample.
    """
    if rule in ("single", "greedy"):
        return samples[0] if samples else None
    answers = [sample.answer for sample in samples]
    votes = Counter(answers)
    scores: list[float | None] = [
        {
            "majority": votes[sample.answer],
            "best_of_n": sample.mean_logprob,
            "reward": sample.reward,
            "verifier": 1.0 if sample.passed else None,
        }[rule]
        for sample in samples
    ]
    place = best_place(answers, scores)
    return None if place is None else samples[place]


def rules_of(sampled: Sequence[Sampled]) -> tuple[AnswerRule, ...]:
    """Return the rules whose input every question has."""
    every = [sample for each in sampled for sample in each.samples]
    has = {
        "best_of_n": any(sample.mean_logprob is not None for sample in every),
        "reward": any(sample.reward is not None for sample in every),
        "verifier": bool(every) and all(sample.passed is not None for sample in every),
    }
    return tuple(rule for rule in RULES if has.get(rule, bool(every)) and rule != "single")


def by_samples(sampled: Sequence[Sampled]) -> tuple[RulePoint, ...]:
    """Return the accuracy of each rule at 1, 2, 4, ... samples, as far as all questions have them.

    16 samples give 4 trials of 4: a question's trials are consecutive blocks of its samples. They
    are correlated, so the interval is over questions (`wilson_of_groups`).
    """
    most = min((len(each.samples) for each in sampled), default=0)
    return tuple(
        RulePoint(rule, size, wilson_of_groups([_trials(each, rule, size) for each in sampled]))
        for rule in rules_of(sampled)
        for size in SIZES
        if size <= most
    )


def _trials(each: Sampled, rule: AnswerRule, size: int) -> tuple[int, int]:
    """Return the number of blocks of this size that a rule gets right, and of all blocks."""
    blocks = [each.samples[at : at + size] for at in range(0, len(each.samples), size)]
    taken = [chosen(block, rule) for block in blocks if len(block) == size]
    return sum(sample is not None and sample.right for sample in taken), len(taken)


class Mistake(NamedTuple):
    """A question whose sample with the highest reward is wrong although another one is right."""

    sampled: Sampled
    taken: Sample
    better: Sample


def mistakes(sampled: Iterable[Sampled]) -> tuple[Mistake, ...]:
    """Return the reward model's errors, each with the right sample that it ranks highest."""
    errors = []
    for each in sampled:
        taken = chosen(each.samples, "reward")
        better = chosen([sample for sample in each.samples if sample.right], "reward")
        if taken is not None and better is not None and not taken.right:
            errors.append(Mistake(each, taken, better))
    return tuple(errors)


def shortened_texts(sampled: Sequence[Sampled]) -> tuple[Sampled, ...]:
    """Return the samples without the texts that no mistake shows."""
    shown = {id(sample) for each in mistakes(sampled) for sample in (each.taken, each.better)}
    return tuple(
        replace(
            each,
            samples=tuple(
                sample if id(sample) in shown else replace(sample, text="")
                for sample in each.samples
            ),
        )
        for each in sampled
    )


def of_votes(votes: Iterable[Vote]) -> tuple[Sampled, ...]:
    """Return the samples of votes on problems with a known answer."""
    return tuple(_of_vote(vote) for vote in votes if vote.problem.answer)


def _of_vote(vote: Vote) -> Sampled:
    rewards = vote.rewards or (None,) * len(vote.attempts)
    checks = vote.scores and worked_out(vote.problem.question) is not None
    samples = [
        Sample(
            text=f"{attempt.thinking} {attempt.answer_text}".strip(),
            answer=attempt.answer,
            right=attempt.outcome == "correct",
            mean_logprob=attempt.mean_logprob,
            reward=reward,
            passed=vote.scores[at] > 0 if checks else None,
        )
        for at, (attempt, reward) in enumerate(zip(vote.attempts, rewards, strict=True))
    ]
    return Sampled(vote.problem.question, vote.problem.answer, tuple(samples))


def of_way(evaluation: Evaluation, way: str) -> tuple[Sampled, ...]:
    """Return the samples of one way's questions, for questions with all samples.

    A vote counts numbers if the reference answer is a number, else normalised replies.
    """
    count = evaluation.plan.way(way).samples
    rows = {
        (row.question, row.sample): row
        for row in evaluation.rows
        if row.way == way and not row.failure
    }
    sampled = []
    for question in evaluation.plan.questions.questions:
        slots = [rows.get((question.key, at)) for at in range(count)]
        whole = [row for row in slots if row is not None]
        if len(whole) < count:
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
        sampled.append(Sampled(question.question, question.answers[0], tuple(samples)))
    return tuple(sampled)
