"""Records of reasoning runs on problems: frozen values, without torch and pandas.

Sweeps have theirs in `sweep.types`.

Log-probabilities are the model's own (before any shaping) in nats; times in seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from core.decoding.errors import ConfigError
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import Piece
from core.decoding.record.steps import FinishReason
from core.decoding.validation import ShortRepr

AttemptOutcome: TypeAlias = Literal["correct", "wrong", "truncated", "unparsable"]
OUTCOMES: tuple[AttemptOutcome, ...] = ("correct", "wrong", "truncated", "unparsable")
# How an answer comes of the attempts: the first two make one attempt with all tokens, the others
# take many; `RULES` are those that a vote is read by.
AnswerRule: TypeAlias = Literal["greedy", "single", "majority", "best_of_n", "reward", "verifier"]
RULES: tuple[AnswerRule, ...] = ("single", "majority", "best_of_n", "reward", "verifier")


def require_possible(*counts: float) -> None:
    """Raises ConfigError for counts or seconds of a row that are below 0 or no finite number."""
    wrong = next((count for count in counts if not 0 <= count < math.inf), None)
    if wrong is not None:
        raise ConfigError(f"A row's counts and seconds must be 0 or more, got {wrong}.")


@dataclass(frozen=True, slots=True)
class Problem:
    """A question with one right answer, a number.

    Args:
        key: names the problem in its set, such as `7+5*3`.
        answer: the number as `answers.normal_number` writes it.
        steps: its difficulty, 1 to 8 operations; None where it is not known.
        system: the system prompt that it is asked with; empty for none.
    """

    key: str
    question: str
    answer: str
    steps: int | None = None
    system: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ProblemSet(ShortRepr):
    """Problems with a name that says where they come from (seed, or file)."""

    name: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reasoning run on one problem.

    Args:
        seed: of the draws; None where nothing was drawn (greedy).
        thinking, answer_text: the two texts, marks left out.
        answer: the number found in the answer, None where there is none.
        tokens: everything that was emitted, marks and forced tokens included.
        thinking_tokens: those between the marks.
        forced_tokens: those that the model didn't choose.
        closed_by_budget: whether the bound ended the thinking, not the model.
        mean_logprob: of the tokens that the model chose; 0 without one.
        seconds: of a batch, the run's share: each forward's time over the rows that it served.
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
    """An answer and how many samples gave it."""

    answer: str
    votes: int


@dataclass(frozen=True, slots=True, repr=False)
class Vote(ShortRepr):
    """N attempts at one problem and what each rule makes of them.

    Args:
        attempts: in order of seeds.
        ballots: by falling votes, ties in order of their first attempt; without an answer, no vote.
        margin: votes of the first ballot less those of the second.
        best: the place of the attempt with the highest mean log-probability among those with an
            answer, None where none has.
        scores: of the verifier, one for each attempt (0 without an answer); empty without one.
        verified: the place of the attempt with the highest score above 0, None where there is none.
        rewards: of a reward model, one for each attempt (None where it doesn't fit); empty without.
        rewarded: the place of the attempt with the highest reward among those with an answer.
        model_id, config: what the samples were drawn with; the seed is the first one's. Empty and
            None where they are a comparison's, which says it itself.
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
        """The majority's answer."""
        return self.ballots[0].answer if self.ballots else None

    def answer_by(self, rule: AnswerRule) -> str | None:
        """Return a rule's answer; of `single` and `greedy`, the first attempt's."""
        if rule == "majority":
            return self.winner
        places = {"best_of_n": self.best, "reward": self.rewarded, "verifier": self.verified}
        chosen = places.get(rule, 0)
        return self.attempts[chosen].answer if chosen is not None and self.attempts else None

    def is_right(self, rule: AnswerRule) -> bool:
        """Return whether a rule's answer is the problem's."""
        return self.answer_by(rule) == self.problem.answer

    @property
    def tokens(self) -> int:
        """Tokens of all attempts together."""
        return sum(attempt.tokens for attempt in self.attempts)


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Answer to a thinking that is stopped here.

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
    """One thinking, stopped after each of its steps; the first point stops it before the first.

    Args:
        own_end: the last answer is the run's own; all others are greedy.
    """

    problem: Problem
    points: tuple[StopPoint, ...]
    own_end: bool = False

    @property
    def knew_at(self) -> int | None:
        """The first point from which on every answer is right; None where the last one is not."""
        first = None
        for at, point in enumerate(self.points):
            if point.outcome != "correct":
                first = None
            elif first is None:
                first = at
        return first


class Share(NamedTuple):
    """Hits of trials, with the ends of the 95 % interval (Wilson 1927)."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else 0.0

    @property
    def percent(self) -> float:
        """In per cent to one digit, halves up (as printed numbers are not): 1 of 16 is 6.3."""
        return (2000 * self.hits + self.total) // (2 * self.total) / 10 if self.total else 0.0


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """Result of a strategy that spends at most the same tokens on every problem.

    Args:
        rule: how an answer comes of the attempts.
        samples: attempts a problem.
        budget: tokens that one attempt may emit.
        tokens: spent on average a problem.
        seconds: taken on average a problem.
    """

    rule: AnswerRule
    samples: int
    budget: int
    correct: Share
    tokens: float
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Rivalry(ShortRepr):
    """Strategies on the same problems, bounded to the same total; `votes` are the many samples.

    Args:
        config: of the attempts, whose bounds follow from the total; the seed is the first one's.
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
