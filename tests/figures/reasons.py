"""Synthetic sweeps, strips and rivalries with honest arithmetic, for tests of what is drawn."""

from __future__ import annotations

from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from core.evaluation.scoring.intervals import wilson
from core.evaluation.sweep.types import BudgetField, BudgetSweep, SweepPlan, SweepRow
from core.evaluation.types import (
    Attempt,
    AttemptOutcome,
    Ballot,
    Problem,
    ProblemSet,
    Rivalry,
    StopPoint,
    StopStrip,
    StrategyResult,
    Vote,
)

BUDGETS = (0, 32, 64)
HOSTILE = "<img src=x onerror=alert(1)>"
# By budget: what becomes of the problems, in order.
ENDS: dict[int, tuple[AttemptOutcome, ...]] = {
    0: ("wrong", "wrong", "truncated", "unparsable"),
    32: ("correct", "wrong", "wrong", "truncated"),
    64: ("correct", "correct", "correct", "wrong"),
}


def make_problems(name: str = "a set") -> ProblemSet:
    """Two problems of one step, two of three."""
    steps = (1, 1, 3, 3)
    keys = [f"{name} {at}" for at in range(4)]
    return ProblemSet(
        name,
        tuple(Problem(k, f"What is {k}?", "4", s) for k, s in zip(keys, steps, strict=True)),
    )


def make_sweep(
    *, name: str = "a set", field: BudgetField = "max_thinking_tokens", count: int | None = None
) -> BudgetSweep:
    """Four problems at three budgets; tokens are 10 and the budget, a run takes 0.5 s."""
    problems = make_problems(name)
    budgets = BUDGETS if field == "max_thinking_tokens" else tuple(b or 8 for b in BUDGETS)
    plan = SweepPlan("embedded:target", problems, Reasoning(), budgets, field)
    rows = [
        SweepRow(
            budget=budget,
            problem=problem.key,
            steps=problem.steps,
            sample=0,
            outcome=ENDS[BUDGETS[at]][place],
            answer="4" if ENDS[BUDGETS[at]][place] == "correct" else None,
            expected="4",
            tokens=10 + budget,
            thinking_tokens=budget,
            forced_tokens=2,
            closed_by_budget=True,
            mean_logprob=-0.1,
            finish_reason="eos",
            seconds=0.5,
        )
        for place, problem in enumerate(problems.problems)
        for at, budget in enumerate(budgets)
    ]
    return BudgetSweep(plan, tuple(rows[:count]))


def make_strip(
    outcomes: tuple[AttemptOutcome, ...] = ("wrong", "correct", "wrong", "correct", "correct"),
    *,
    right: str = "4",
    piece: str = " 2 + 2 = 4.",
) -> StopStrip:
    """A stop every ten tokens."""
    points = tuple(
        StopPoint(
            tokens=10 * at,
            thinking=piece * at,
            piece=piece if at else "",
            answer_text=f"The answer is {'4' if outcome == 'correct' else '5'}.",
            answer={"correct": "4", "wrong": "5"}.get(outcome),
            outcome=outcome,
        )
        for at, outcome in enumerate(outcomes)
    )
    return StopStrip(Problem("2+2", "What is 2 + 2?", right, 1), points)


def make_rivalry(name: str = "a set") -> Rivalry:
    """One attempt of 128 tokens, greedy and drawn, against four of 32, right on 3 of 4."""
    problems = make_problems(name)
    rivals = (
        StrategyResult("greedy", 1, 128, wilson(2, 4), 62.0, 0.5),
        StrategyResult("single", 1, 128, wilson(1, 4), 60.0, 0.5),
        StrategyResult("majority", 4, 32, wilson(3, 4), 110.0, 1.5),
        StrategyResult("best_of_n", 4, 32, wilson(2, 4), 110.0, 1.5),
    )
    config = Reasoning(do_sample=True, seed=3, shaping=Shaping(temperature=0.8))
    return Rivalry(
        problems, 128, rivals, (make_vote(problems.problems[0]),), "embedded:target", config
    )


def make_vote(problem: Problem) -> Vote:
    """Three samples: two say 4, the likeliest says 5."""
    attempts = tuple(
        Attempt(
            problem=problem.key,
            seed=at,
            thinking="2 + 2",
            answer_text=f"It is {answer}.",
            answer=answer,
            outcome="correct" if answer == "4" else "wrong",
            finish_reason="eos",
            tokens=20,
            thinking_tokens=10,
            forced_tokens=1,
            closed_by_budget=False,
            mean_logprob=logprob,
            seconds=0.1,
        )
        for at, (answer, logprob) in enumerate((("4", -0.5), ("5", -0.1), ("4", -0.6)))
    )
    return Vote(problem, attempts, (Ballot("4", 2), Ballot("5", 1)), margin=1, best=1)
