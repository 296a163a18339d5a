"""Background jobs of the Evaluate page: a plan's runs, and the inputs as the models read them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from core.evaluation.plan.types import Evaluation, EvaluationPlan, EvaluationRow
from core.evaluation.questions.types import Question
from core.language import N_
from pages.ui.evaluate.state import EvaluateView
from pages.ui.run import jobs
from pages.ui.run.jobs import Job

if TYPE_CHECKING:
    from core.evaluation.plan.asking import Rendered


def evaluate(view: EvaluateView, which: str, plan: EvaluationPlan, done: Evaluation | None) -> Job:
    """Run the rows that are missing; `view.live` holds the others. Result: an `Evaluation`."""
    view.live = (which, done or Evaluation(plan))
    return _evaluate(view, which, plan, done)


@jobs.in_background
def _evaluate(
    job: Job, view: EvaluateView, which: str, plan: EvaluationPlan, done: Evaluation | None
) -> Evaluation:
    from core.evaluation.plan.run import loaded, run_evaluation, with_revisions
    from core.evaluation.progress import time_left

    rows: list[EvaluationRow] = [row for row in done.rows if not row.failure] if done else []
    job.counts = (len(rows), plan.total)
    models = loaded(plan, partial(jobs.load, job))
    rewards = jobs.load_rewards(job, plan.reward) if plan.reward else None
    whole = with_revisions(plan, models, rewards)
    if done and done.plan.revisions != whole.revisions:
        rows = []

    left = time_left()

    def on_row(row: EvaluationRow, count: int) -> None:
        rows.append(row)
        view.live = (which, Evaluation(whole, tuple(rows)))
        job.counts = (count, whole.total)
        job.left = left(count, whole.total)

    return job.compute(
        N_("Running"), run_evaluation, models, whole, tuple(rows), rewards=rewards, on_row=on_row
    )


@jobs.in_background
def render(job: Job, plan: EvaluationPlan, question: Question) -> tuple[Any, list[Rendered]]:
    """The inputs of every way for one question, behind the ways and the question."""
    from core.evaluation.plan.asking import rendered

    models = {name: jobs.load(job, name) for name in plan.models}
    rows = job.compute(N_("Reading the question"), rendered, plan, models, question)
    return (plan.ways, question), rows
