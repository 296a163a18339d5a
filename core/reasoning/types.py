"""What reasoning runs over problems record: frozen values that need neither torch nor pandas.

Log-probabilities are the model's own (before any shaping) in nats; times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from core.decoding.configs import MAX_NEW_TOKENS, Reasoning, brief
from core.decoding.errors import ConfigError
from core.decoding.reasoning_read import Piece
from core.decoding.types import FinishReason, Trace

Outcome: TypeAlias = Literal["correct", "wrong", "truncated", "unparsable"]
OUTCOMES: tuple[Outcome, ...] = ("correct", "wrong", "truncated", "unparsable")
BudgetField: TypeAlias = Literal["max_thinking_tokens", "max_new_tokens"]
# The first two make one attempt of all tokens, the others ask many; `RULES` are those of a vote.
Rule: TypeAlias = Literal["greedy", "single", "majority", "best_of_n", "verifier"]
MAX_ROWS = 100_000
RULES: tuple[Rule, ...] = ("single", "majority", "best_of_n", "verifier")


@dataclass(frozen=True, slots=True)
class Problem:
    """A question with one right answer, a number.

    Args:
        key: names the problem in its set, such as `7+5*3`.
        answer: the number as `answers.normal_number` writes it.
        steps: its difficulty, 1 to 8 operations; None where nobody says.
        system: the system prompt that it is asked with; empty for none.
    """

    key: str
    question: str
    answer: str
    steps: int | None = None
    system: str = ""


@dataclass(frozen=True, slots=True)
class ProblemSet:
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
    outcome: Outcome
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


@dataclass(frozen=True, slots=True)
class Vote:
    """N attempts at one problem and what each rule makes of them.

    Args:
        attempts: in order of seeds.
        ballots: by falling votes, ties in order of their first attempt; without an answer, no vote.
        margin: votes of the first ballot less those of the second.
        best: the place of the attempt with the highest mean log-probability among those with an
            answer, None where none has.
        scores: of the verifier, one for each attempt (0 without an answer); empty without one.
        verified: the place of the attempt with the highest score above 0, None where there is none.
    """

    problem: Problem
    attempts: tuple[Attempt, ...]
    ballots: tuple[Ballot, ...]
    margin: int
    best: int | None
    scores: tuple[float, ...] = ()
    verified: int | None = None

    @property
    def winner(self) -> str | None:
        """The majority's answer."""
        return self.ballots[0].answer if self.ballots else None

    def answer_by(self, rule: Rule) -> str | None:
        """What a rule answers; of `single` and `greedy`, the first attempt's."""
        if rule == "majority":
            return self.winner
        first = {"greedy": 0, "single": 0}
        chosen = {**first, "best_of_n": self.best, "verifier": self.verified}[rule]
        return self.attempts[chosen].answer if chosen is not None and self.attempts else None

    def is_right(self, rule: Rule) -> bool:
        """Whether a rule's answer is the problem's."""
        return self.answer_by(rule) == self.problem.answer

    @property
    def tokens(self) -> int:
        """What all attempts together spent."""
        return sum(attempt.tokens for attempt in self.attempts)


@dataclass(frozen=True, slots=True)
class StopPoint:
    """What the answer would be if the thinking were stopped here.

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
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class StopStrip:
    """One thinking, stopped after each of its steps; the first point stops it before the first."""

    problem: Problem
    points: tuple[StopPoint, ...]

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


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that fixes a sweep's rows, save their seconds.

    Args:
        model_id: as given to `load_model`.
        config: of every run; the field `budget_field` and the seed are replaced.
        budgets: rising.
        budget_field: which bound is swept: the thinking's (the close is forced), or the whole
            loop's (the run is cut off).
        samples: runs of each problem at each budget, with seeds `config.seed`, `+ 1`, ...; 1 unless
            the config draws.
        model_revision: a digest of the weights; empty when there is none.

    Raises:
        ConfigError: nothing to run, budgets that don't rise or can't be, or more than
            `MAX_ROWS` runs.
    """

    model_id: str
    problems: ProblemSet
    config: Reasoning
    budgets: tuple[int, ...]
    budget_field: BudgetField = "max_thinking_tokens"
    samples: int = 1
    model_revision: str = ""

    def __post_init__(self) -> None:
        least = 0 if self.budget_field == "max_thinking_tokens" else 1
        rising = all(before < after for before, after in pairwise(self.budgets))
        if not self.budgets or not rising or not least <= self.budgets[0]:
            raise ConfigError(
                f"budgets must rise from {least} or more, got {brief(str(self.budgets))}."
            )
        if self.budgets[-1] > MAX_NEW_TOKENS:
            raise ConfigError(f"budgets must be at most {MAX_NEW_TOKENS}, got {self.budgets[-1]}.")
        if not self.problems.problems:
            raise ConfigError("A sweep needs a problem; the set is empty.")
        if self.samples < 1 or (self.samples > 1 and not self.config.draws):
            raise ConfigError(
                f"samples must be 1 where nothing is drawn, else 1 or more, got {self.samples}."
            )
        if self.total > MAX_ROWS:
            raise ConfigError(
                f"A sweep has at most {MAX_ROWS:,} runs, this one {self.total:,}: take fewer "
                "problems, budgets or samples."
            )

    @property
    def total(self) -> int:
        """How many rows the sweep has when it is complete."""
        return len(self.problems.problems) * len(self.budgets) * self.samples


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One run of a sweep; the columns of its data frame.

    Args:
        problem: the problem's key.
        steps: the problem's difficulty.
        sample: which of the runs at this problem and budget, from 0.
        expected: the right answer.
        tokens, thinking_tokens, seconds and the rest: as in `Attempt`.
    """

    budget: int
    problem: str
    steps: int | None
    sample: int
    outcome: Outcome
    answer: str | None
    expected: str
    tokens: int
    thinking_tokens: int
    forced_tokens: int
    closed_by_budget: bool
    mean_logprob: float
    finish_reason: FinishReason
    seconds: float


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan and the rows that are there, complete or not."""

    plan: SweepPlan
    rows: tuple[SweepRow, ...] = ()

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.plan.total


class Share(NamedTuple):
    """How many of how many, with the ends of the 95 % interval (Wilson 1927)."""

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
class Rival:
    """One way to spend at most the same tokens on every problem.

    Args:
        rule: how an answer comes of the attempts.
        samples: attempts a problem.
        budget: tokens that one attempt may emit.
        tokens: spent on average a problem.
        seconds: taken on average a problem.
    """

    rule: Rule
    samples: int
    budget: int
    correct: Share
    tokens: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Rivalry:
    """Rivals on the same problems, each bounded to the same total; `votes` are the many samples.

    Args:
        config: of the attempts, whose bounds follow from the total; the seed is the first one's.
    """

    problems: ProblemSet
    total_tokens: int
    rivals: tuple[Rival, ...]
    votes: tuple[Vote, ...]
    model_id: str = ""
    config: Reasoning | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a run on a problem wrote, token by token, without the numbers of its steps."""

    problem: Problem
    config: Reasoning
    pieces: tuple[Piece, ...]
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class ReasoningExample:
    """What the page shows before anything has run, all of it measured.

    Args:
        sweep: thinking budgets, the close forced.
        cut: the whole loop's bound, nothing forced.
        rivalry: with the votes of its first problems only.
        run: one run on the strip's problem.
        tools: a hard sum without the calculator and with it.
    """

    sweep: Sweep
    cut: Sweep
    rivalry: Rivalry
    run: Trace
    strip: StopStrip
    tools: tuple[Transcript, Transcript]
