"""What the Evaluate page runs in worker threads: a plan, and the inputs as the models read them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from core.decoding.errors import DecodingError
from core.evaluation.plan.types import Evaluation, EvaluationPlan, EvaluationRow
from core.evaluation.questions.types import Question
from pages.ui.evaluate.state import EvaluateView
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


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
        "Running", run_evaluation, models, whole, tuple(rows), rewards=rewards, on_row=on_row
    )


class Rendered(NamedTuple):
    """What a way's models read for a question, special tokens written out.

    Args:
        failure: why they can't be asked it; nothing is read then.
    """

    way: str
    target: str
    target_ids: tuple[int, ...]
    draft: str
    draft_ids: tuple[int, ...]
    warnings: tuple[str, ...]
    failure: str = ""


@jobs.in_background
def render(job: Job, plan: EvaluationPlan, question: Question) -> tuple[Any, list[Rendered]]:
    """The inputs of every way for one question, behind the ways and the question."""
    from core.decoding.loop.text import join_prompt
    from core.evaluation.plan.asking import draft_ids_for, ids_for, warnings

    models = {name: jobs.load(job, name) for name in plan.models}
    found = []
    said = tuple(warnings(plan, models))
    with job.turn("Reading the question"):
        for way in plan.ways:
            mine = tuple(one for one in said if repr(way.name) in one)
            try:
                ids = ids_for(models[way.model], question, way.system, way.use_chat_template)
                own = draft_ids_for(models[way.draft], question, way, ids) if way.draft else []
            except DecodingError as error:
                found.append(Rendered(way.name, "", (), "", (), mine, str(error)))
                continue
            target = join_prompt(models[way.model], ids)
            draft = join_prompt(models[way.draft], own) if way.draft else ""
            found.append(Rendered(way.name, target, tuple(ids), draft, tuple(own), mine))
    return (plan.ways, question), found
