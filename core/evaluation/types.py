"""Records of reasoning runs on problems: frozen values, without torch and pandas.

The records of sweeps are in `sweep.types`. Log-probabilities are the model's own (before any
shaping) in nats; times in seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ..decoding.errors import ConfigError
from ..decoding.reasoning.config import Reasoning
from ..decoding.reasoning.transcript import Piece
from ..decoding.record.steps import FinishReason
from ..decoding.validation import ShortRepr
from ..language import Message

AttemptOutcome: TypeAlias = Literal["correct", "wrong", "truncated", "unparsable"]
OUTCOMES: tuple[AttemptOutcome, ...] = ("correct", "wrong", "truncated", "unparsable")
# Rules that choose an answer: the first two make one attempt with all tokens, the others several
# short ones; `RULES` are the rules of a vote.
AnswerRule: TypeAlias = Literal["greedy", "single", "majority", "best_of_n", "reward", "verifier"]
RULES: tuple[AnswerRule, ...] = ("single", "majority", "best_of_n", "reward", "verifier")


def require_possible(*counts: float) -> None:
    """Raise ConfigError if a row's counts or seconds are negative or not finite."""
    wrong = next((count for count in counts if not 0 <= count < math.inf), None)
    if wrong is not None:
        raise ConfigError(
            Message("A row's counts and seconds must be 0 or more, got {wrong}.", wrong=wrong)
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A question with one right answer, a number.

    Args:
        key: name of the problem in its set, such as `7+5*3`.
        answer: the number as `answers.normal_number` writes it.
        steps: difficulty, 1 to 8 operations; None if unknown.
        system: the system prompt of the problem; empty for none.
    """

    key: str
    question: str
    answer: str
    steps: int | None = None
    system: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ProblemSet(ShortRepr):
    """Problems with a name that states their source (seed, or file)."""

    name: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reasoning run on one problem.

    Args:
        seed: seed of the draws; None if nothing was drawn (greedy).
        thinking, answer_text: the two texts, without marks.
        answer: the number in the answer; None if there is none.
        tokens: number of emitted tokens, with marks and forced tokens.
        thinking_tokens: number of tokens between the marks.
        forced_tokens: number of tokens that the model didn't choose.
        closed_by_budget: True if the limit ended the thinking, not the model.
        mean_logprob: mean over the tokens that the model chose; 0 without one.
        seconds: the run's share in a batch: each forward's time divided by its rows.
    """

    problem: str
    seed: int | None
    thinking: str
    answer_text: str
    answer: str | None
    outcome: AttemptOutcome
    finish_reason: FinishReason
    tokens: int
    thinking_tokens: int
    forced_tokens: int
    closed_by_budget: bool
    mean_logprob: float
    seconds: float


class Ballot(NamedTuple):
    """An answer and the number of samples that gave it."""

    answer: str
    votes: int


@dataclass(frozen=True, slots=True, repr=False)
class Vote(ShortRepr):
    """N attempts at one problem and the choice of each rule.

    Args:
        attempts: attempts in order of seeds.
        ballots: answers by falling votes, ties in order of their first attempt.
        margin: votes of the first ballot minus those of the second.
        best: index of the attempt with the highest mean log-probability among those with an
            answer; None if none has one.
        scores: the verifier's score for each attempt (0 without an answer); empty without one.
        verified: index of the attempt with the highest score above 0; None if there is none.
        rewards: the reward model's score for each attempt (None if too long); empty without one.
        rewarded: index of the attempt with the highest reward among those with an answer.
        model_id, config: model and settings of the samples, with the first sample's seed. Empty
            and None in a comparison, which stores them itself.
    """

    problem: Problem
    attempts: tuple[Attempt, ...]
    ballots: tuple[Ballot, ...]
    margin: int
    best: int | None
    scores: tuple[float, ...] = ()
    verified: int | None = None
    rewards: tuple[float | None, ...] = ()
    rewarded: int | None = None
    model_id: str = ""
    config: Reasoning | None = None

    @property
    def winner(self) -> str | None:
        """Answer of the majority; None without one."""
        return self.ballots[0].answer if self.ballots else None

    def answer_by(self, rule: AnswerRule) -> str | None:
        """Return a rule's answer; for `single` and `greedy`, the first attempt's."""
        if rule == "majority":
            return self.winner
        places = {"best_of_n": self.best, "reward": self.rewarded, "verifier": self.verified}
        chosen = places.get(rule, 0)
        return self.attempts[chosen].answer if chosen is not None and self.attempts else None

    def is_right(self, rule: AnswerRule) -> bool:
        """Return True if a rule's answer is the problem's."""
        return self.answer_by(rule) == self.problem.answer

    @property
    def tokens(self) -> int:
        """Tokens of all attempts together."""
        return sum(attempt.tokens for attempt in self.attempts)


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Answer of the model if its thinking is stopped here.

    Args:
        tokens: thinking tokens up to here.
        thinking: the text up to here.
        piece: the thinking step that ends here; empty at 0 tokens.
    """

    tokens: int
    thinking: str
    piece: str
    answer_text: str
    answer: str | None
    outcome: AttemptOutcome


@dataclass(frozen=True, slots=True, repr=False)
class StopStrip(ShortRepr):
    """Answers to one thinking, stopped before its first step and after each step.

    Args:
        own_end: True if the last answer is the run's own; all others are greedy.
    """

    problem: Problem
    points: tuple[StopPoint, ...]
    own_end: bool = False

    @property
    def knew_at(self) -> int | None:
        """Index of the first point after which every answer is right; None if the last is wrong."""
        first = None
        for at, point in enumerate(self.points):
            if point.outcome != "correct":
                first = None
            elif first is None:
                first = at
        return first


class Share(NamedTuple):
    """Hits among trials, with the ends of the 95 % interval (Wilson 1927)."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else 0.0

    @property
    def percent(self) -> float:
        """The share in per cent to one digit, half rounded up: 1 of 16 is 6.3."""
        return (2000 * self.hits + self.total) // (2 * self.total) / 10 if self.total else 0.0


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """Result of a strategy that spends at most the same tokens on every problem.

    Args:
        rule: rule that chooses the answer among the attempts.
        samples: number of attempts for each problem.
        budget: limit on the tokens of one attempt.
        tokens: mean number of tokens per problem.
        seconds: mean time per problem.
    """

    rule: AnswerRule
    samples: int
    budget: int
    correct: Share
    tokens: float
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Rivalry(ShortRepr):
    """Strategies on the same problems with the same total of tokens; `votes` hold the samples.

    Args:
        config: settings of the attempts, whose limits follow from the total, with the first seed.
    """

    problems: ProblemSet
    total_tokens: int
    rivals: tuple[StrategyResult, ...]
    votes: tuple[Vote, ...]
    model_id: str = ""
    config: Reasoning | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Transcript(ShortRepr):
    """Tokens that a run on a problem wrote, without the numbers of its steps."""

    problem: Problem
    config: Reasoning
    pieces: tuple[Piece, ...]
    attempt: Attempt
