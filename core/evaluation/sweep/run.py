"""Runs of a sweep (budgets x problems x samples) in batches, a row for each; can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.types import ThinkMarks
from core.evaluation.attempts import ROWS, AttemptTask, attempt_all
from core.evaluation.questions.asking import prompt_ids_of
from core.evaluation.row_file import gathered
from core.evaluation.sweep.budgets import config_of
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.evaluation.types import Attempt, Problem


def missing(plan: SweepPlan, rows: Sequence[SweepRow]) -> list[tuple[Problem, int, int]]:
    """The runs (problem, budget, sample) that have no row yet, problem by problem."""
    done = {(row.problem, row.budget, row.sample) for row in rows}
    return [
        (problem, budget, sample)
        for problem in plan.problems.problems
        for budget in plan.budgets
        for sample in range(plan.samples)
        if (problem.key, budget, sample) not in done
    ]


def sweep_rows(
    model: LanguageModel,
    plan: SweepPlan,
    done: Sequence[SweepRow] = (),
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    only: Sequence[tuple[str, int, int]] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[SweepRow]:
    """Yield the rows that `done` lacks, each as soon as its run has ended.

    Args:
        marks: of a model that is told by its prompt how to think.
        batch: runs at once.
        only: these runs (problem, budget, sample) and no others; all where it is left out.
        should_stop: asked after every forward.

    Raises:
        as `reason_in_batch`.
    """
    todo = missing(plan, done)
    if only is not None:
        wanted = set(only)
        todo = [run for run in todo if (run[0].key, *run[1:]) in wanted]
    prompts = {
        problem.key: prompt_ids_of(model, problem, marks)
        for problem in {problem.key: problem for problem, _, _ in todo}.values()
    }
    tasks = [
        AttemptTask(problem, prompts[problem.key], config_of(plan, budget, sample))
        for problem, budget, sample in todo
    ]
    for at, attempt in attempt_all(model, tasks, rows=batch, should_stop=should_stop):
        yield _row(*todo[at], attempt)


def run_sweep(
    model: LanguageModel,
    plan: SweepPlan,
    done: Sequence[SweepRow] = (),
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    on_row: Callable[[SweepRow, int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> BudgetSweep:
    """All rows of a plan, or those up to the stop; `done` ones are kept and not run again.

    Args:
        on_row: called with each new row and how many rows there are now (of `plan.total`).
    """
    coming = sweep_rows(model, plan, done, marks=marks, batch=batch, should_stop=should_stop)
    return BudgetSweep(plan, gathered(coming, done, on_row))


def _row(problem: Problem, budget: int, sample: int, attempt: Attempt) -> SweepRow:
    return SweepRow(
        budget=budget,
        problem=problem.key,
        steps=problem.steps,
        sample=sample,
        outcome=attempt.outcome,
        answer=attempt.answer,
        expected=problem.answer,
        tokens=attempt.tokens,
        thinking_tokens=attempt.thinking_tokens,
        forced_tokens=attempt.forced_tokens,
        closed_by_budget=attempt.closed_by_budget,
        mean_logprob=attempt.mean_logprob,
        finish_reason=attempt.finish_reason,
        seconds=attempt.seconds,
    )
