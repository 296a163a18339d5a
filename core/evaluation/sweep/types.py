"""Plan and rows of a sweep: frozen values, without torch and pandas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Literal, TypeAlias

from ...decoding.config import MAX_NEW_TOKENS
from ...decoding.errors import ConfigError
from ...decoding.reasoning.config import MARK_TOKENS, Reasoning
from ...decoding.record.steps import FinishReason
from ...decoding.validation import ShortRepr, brief
from ...language import N_, Message
from ..runner import Place
from ..types import AttemptOutcome, ProblemSet, require_possible

BudgetField: TypeAlias = Literal["max_thinking_tokens", "max_new_tokens"]
MAX_ROWS = 100_000


@dataclass(frozen=True, slots=True, repr=False)
class SweepPlan(ShortRepr):
    """Everything that determines a sweep's rows, except their seconds.

    Args:
        model_id: argument of `load_model`.
        config: settings of every run; `budget_field` and the seed are replaced, and the other
            limits adapted (`config_of`).
        budgets: rising budgets, in tokens.
        budget_field: limit to vary: of the thinking (the close is forced), or of all tokens
            (the run is truncated, the close is not forced).
        samples: runs of each problem at each budget, with seeds `config.seed`, `+ 1`, ...; 1 unless
            the config draws.
        model_revision: a digest of the weights; empty if there is none.

    Raises:
        ConfigError: nothing to run, budgets that don't rise or are out of range, or more than
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
                Message(
                    "must rise from {least} or more, got {given}.",
                    least=least,
                    given=brief(str(self.budgets)),
                ),
                "budgets",
                "",
            )
        if self.budgets[-1] > self._most:
            raise ConfigError(
                Message(
                    "must be at most {most}, got {budgets}.",
                    most=self._most,
                    budgets=self.budgets[-1],
                ),
                "budgets",
                "",
            )
        if not self.problems.problems:
            raise ConfigError(N_("A sweep needs a problem; the set is empty."))
        if self.samples < 1 or (self.samples > 1 and not self.config.draws):
            raise ConfigError(
                Message(
                    "must be 1 where nothing is drawn, else 1 or more, got {samples}.",
                    samples=self.samples,
                ),
                "samples",
                "",
            )
        if self.total > MAX_ROWS:
            raise ConfigError(
                Message(
                    "A sweep has at most {max_rows:,} runs, this one {total:,}: take "
                    "fewer problems, budgets or samples.",
                    max_rows=MAX_ROWS,
                    total=self.total,
                )
            )

    @property
    def _most(self) -> int:
        """Largest budget that fits into the limit on all tokens."""
        if self.budget_field == "max_new_tokens":
            return MAX_NEW_TOKENS
        return MAX_NEW_TOKENS - self.config.max_answer_tokens - MARK_TOKENS

    @property
    def total(self) -> int:
        """Number of rows of a complete sweep."""
        return len(self.problems.problems) * len(self.budgets) * self.samples

    def config_of(self, budget: int, sample: int) -> Reasoning:
        """Return the config of a row's run.

        A thinking budget gets enough room within the limit on all tokens, or its close could never
        be forced. If the limit on all tokens is the budget (`max_new_tokens`), no other limit
        applies and no end is ignored: the close is not forced, and a run that still thinks is
        truncated.
        """
        config = replace(self.config, seed=self.config.seed + sample)
        if self.budget_field == "max_thinking_tokens":
            bound = replace(config, max_thinking_tokens=budget)
            return replace(bound, max_new_tokens=max(bound.max_new_tokens, bound.room))
        return replace(
            config,
            max_new_tokens=budget,
            max_thinking_tokens=budget,
            max_answer_tokens=budget,
            min_new_tokens=min(config.min_new_tokens, budget),
            ignore_end=0,
        )

    @property
    def places(self) -> list[Place]:
        """All runs, problem by problem."""
        return [
            (problem.key, budget, sample)
            for problem in self.problems.problems
            for budget in self.budgets
            for sample in range(self.samples)
        ]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One run of a sweep; the columns of its data frame.

    Args:
        problem: the problem's key.
        steps: the problem's difficulty.
        sample: index of the run at this problem and budget, from 0.
        expected: the right answer.
        tokens, thinking_tokens, seconds and the rest: as in `Attempt`.
    """

    budget: int
    problem: str
    steps: int | None
    sample: int
    outcome: AttemptOutcome
    answer: str | None
    expected: str
    tokens: int
    thinking_tokens: int
    forced_tokens: int
    closed_by_budget: bool
    mean_logprob: float
    finish_reason: FinishReason
    seconds: float

    failure: ClassVar[str] = ""

    @property
    def place(self) -> Place:
        """Problem, budget and sample of the run."""
        return self.problem, self.budget, self.sample

    def __post_init__(self) -> None:
        require_possible(self.seconds, self.thinking_tokens, self.forced_tokens)
        require_possible(self.tokens - max(self.thinking_tokens, self.forced_tokens))


@dataclass(frozen=True, slots=True, repr=False)
class BudgetSweep(ShortRepr):
    """A plan and its rows so far, complete or not."""

    plan: SweepPlan
    rows: tuple[SweepRow, ...] = ()

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.plan.total
