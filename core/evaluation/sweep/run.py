"""Run a sweep (budgets x problems x samples) in batches, with a row for each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ...decoding.errors import SweepError
from ...decoding.protocol import LanguageModel
from ...decoding.reasoning.types import ThinkMarks
from ...language import N_
from ...models.stopping import ShouldStop, never
from ..attempts import ROWS, AttemptTask, attempt_all
from ..questions.asking import prompt_ids_of
from ..runner import Place, PlanWork, gathered
from ..workers.threads import threads_for
from ..workers.work import RunUnit, rows_of
from .files import SWEEPS
from .types import BudgetSweep, SweepPlan, SweepRow


def sweep_rows(
    model: LanguageModel,
    plan: SweepPlan,
    marks: ThinkMarks | None,
    batch: Sequence[Place],
    should_stop: ShouldStop = never,
) -> Iterator[SweepRow]:
    """Yield the rows of one batch, each when its run has ended.

    Raises:
        as `reason_in_batch`.
    """
    problems = {problem.key: problem for problem in plan.problems.problems}
    prompts = {
        key: prompt_ids_of(model, problems[key], marks) for key in {key for key, *_ in batch}
    }
    tasks = [
        AttemptTask(problems[key], prompts[key], plan.config_of(budget, sample))
        for key, budget, sample in batch
    ]
    for at, attempt in attempt_all(model, tasks, rows=len(tasks), should_stop=should_stop):
        key, budget, sample = batch[at]
        yield SweepRow(
            budget=budget,
            problem=key,
            steps=problems[key].steps,
            sample=sample,
            outcome=attempt.outcome,
            answer=attempt.answer,
            expected=problems[key].answer,
            tokens=attempt.tokens,
            thinking_tokens=attempt.thinking_tokens,
            forced_tokens=attempt.forced_tokens,
            closed_by_budget=attempt.closed_by_budget,
            mean_logprob=attempt.mean_logprob,
            finish_reason=attempt.finish_reason,
            seconds=attempt.seconds,
        )


def sweep_work(
    plan: SweepPlan,
    where: str,
    dtype: str | None = None,
    device: str | None = None,
    batch: int = ROWS,
) -> PlanWork[SweepRow]:
    """Return a sweep's work for other processes, which load the model themselves.

    Args:
        plan: the plan with its revision.
        where: argument of `load_model`.
        batch: concurrent runs in a process.
    """
    return PlanWork(plan, partial(_load, plan, where, dtype, device), batch)


def _load(plan: SweepPlan, where: str, dtype: str | None, device: str | None) -> RunUnit[SweepRow]:
    from ...models.registry import load_model

    model = load_model(where, dtype=dtype, device=device)
    if model.revision != plan.model_revision:
        raise SweepError(N_("The model's weights were changed meanwhile; start again."))
    return partial(sweep_rows, model, plan, model.think_marks)


def _work_here(
    model: LanguageModel, plan: SweepPlan, marks: ThinkMarks | None, batch: int
) -> PlanWork[SweepRow]:
    return PlanWork(plan, lambda: partial(sweep_rows, model, plan, marks), batch)


def run_sweep(
    model: LanguageModel,
    plan: SweepPlan,
    done: Sequence[SweepRow] = (),
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    on_row: Callable[[SweepRow, int], object] | None = None,
    should_stop: ShouldStop = never,
) -> BudgetSweep:
    """Run a plan until its end or a stop; `done` rows are kept and not repeated.

    Args:
        marks: thinking marks, for a model that thinks by an instruction in its prompt.
        batch: concurrent runs.
        on_row: called with each new row and the current number of rows (of `plan.total`).
        should_stop: called after every forward.
    """
    coming = rows_of(_work_here(model, plan, marks, batch), done, should_stop=should_stop)
    return BudgetSweep(plan, gathered(coming, done, on_row))


def sweep_to_file(
    model: LanguageModel,
    plan: SweepPlan,
    path: str | Path,
    *,
    marks: ThinkMarks | None = None,
    batch: int = ROWS,
    on_row: Callable[[SweepRow, int], object] | None = None,
    should_stop: ShouldStop = never,
    in_flight: int = 1,
) -> BudgetSweep:
    """Run a plan into a file, or resume the file; the arguments are those of `run_sweep`.

    Args:
        in_flight: limit on concurrent batches, if the model is on a server.

    Raises:
        SweepError: the file holds another plan, another sweep is writing it, or it can't be read
            or written.
    """
    work, pool = _work_here(model, plan, marks, batch), threads_for([model], in_flight)
    return BudgetSweep(plan, SWEEPS.extend(path, work, pool, on_row, should_stop))
