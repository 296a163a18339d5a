"""Background jobs of the reasoning page, in worker threads; each can stop at a step."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from core.decoding.reasoning.config import Reasoning
from core.decoding.record.trace import Trace
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.evaluation.types import Problem, ProblemSet, Rivalry, StopStrip, Transcript, Vote
from core.evaluation.votes.best_of import SampledProblems, of_votes
from core.language import N_
from pages.ui.reasoning.problem import marked
from pages.ui.reasoning.state import ReasonView
from pages.ui.resources.models import DEFAULT_REWARD
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


@jobs.in_background
def where_it_knew(job: Job, trace: Trace, problem: Problem) -> StopStrip | None:
    """Stop the run's thinking after each of its steps; the result is a `StopStrip`."""
    from core.evaluation.early_stops import stop_strip

    model = jobs.load_for(job, trace)
    stage = N_("Stopping the thinking after each step")
    return job.unless_stopped(job.compute(stage, stop_strip, model, problem, trace))


def sweep(view: ReasonView, plan: SweepPlan, done: tuple[SweepRow, ...]) -> Job:
    """Run the rows that are missing; `view.live` holds the others. Result: a `BudgetSweep`."""
    view.live = BudgetSweep(plan, done)
    return _sweep(view, plan, done)


@jobs.in_background
def _sweep(
    job: Job, view: ReasonView, plan: SweepPlan, done: tuple[SweepRow, ...]
) -> BudgetSweep | None:
    from core.evaluation.sweep.run import run_sweep

    job.counts = (len(done), plan.total)
    model = jobs.load(job, plan.model_id)
    whole = replace(plan, config=marked(model, plan.config), model_revision=model.revision)
    rows = list(done)

    def on_row(row: SweepRow, count: int) -> None:
        rows.append(row)
        view.live = BudgetSweep(whole, tuple(rows))
        job.counts = (count, whole.total)

    return job.compute(
        N_("Running"), run_sweep, model, whole, done, marks=model.think_marks, on_row=on_row
    )


class Contest(NamedTuple):
    """Settings of a comparison of one long attempt with many short ones."""

    model: str
    problems: ProblemSet
    config: Reasoning
    total: int
    samples: int


@jobs.in_background
def compare(job: Job, contest: Contest) -> Rivalry | None:
    """Run both ways; the result is a `Rivalry` over the problems that were done, if any."""
    from core.evaluation.scoring.verifier import check_arithmetic
    from core.evaluation.votes.compare import compare_rivals

    def on_attempt(ended: int, total: int) -> None:
        job.counts = (ended, total)

    job.counts = (0, len(contest.problems.problems) * (contest.samples + 2))
    model = jobs.load(job, contest.model)
    rivalry = job.compute(
        N_("Running"),
        compare_rivals,
        model,
        contest.problems,
        marked(model, contest.config),
        total_tokens=contest.total,
        samples=contest.samples,
        verifier=check_arithmetic,
        marks=model.think_marks,
        on_attempt=on_attempt,
    )
    return rivalry if rivalry.votes else None


@jobs.in_background
def vote(job: Job, where: str, problem: Problem, config: Reasoning, samples: int) -> Vote | None:
    """Ask a problem so many times in one batch; the result is a `Vote`, if any sample ended."""
    from core.evaluation.scoring.verifier import check_arithmetic
    from core.evaluation.votes.sampling import sample_and_vote

    def on_attempt(_: object) -> None:
        job.counts = (job.counts[0] + 1, samples)

    job.counts = (0, samples)
    model = jobs.load(job, where)
    votes = job.compute(
        N_("Running"),
        sample_and_vote,
        model,
        problem,
        marked(model, config),
        samples,
        verifier=check_arithmetic,
        marks=model.think_marks,
        on_attempt=on_attempt,
    )
    return votes if votes.attempts else None


@jobs.in_background
def best_of(
    job: Job, where: str, problems: ProblemSet, config: Reasoning, samples: int
) -> SampledProblems | None:
    """Samples of each problem with their rewards; those of the problems that were done, if any."""
    from core.evaluation.progress import time_left
    from core.evaluation.scoring.verifier import check_arithmetic
    from core.evaluation.votes.sampling import sample_each

    total, left = len(problems.problems) * samples, time_left()

    def on_attempt(_: object) -> None:
        job.counts = (job.counts[0] + 1, total)
        job.left = left(*job.counts)

    job.counts = (0, total)
    model = jobs.load(job, where)
    rewards = jobs.load_rewards(job, DEFAULT_REWARD)
    votes = job.compute(
        N_("Running"),
        sample_each,
        model,
        problems.problems,
        marked(model, config),
        samples,
        verifier=check_arithmetic,
        scorer=rewards.score,
        marks=model.think_marks,
        on_attempt=on_attempt,
    )
    sampled = of_votes(votes)
    if not sampled:
        return None
    return SampledProblems(sampled, problems.name, model.model_id, config, DEFAULT_REWARD)


@jobs.in_background
def tools(
    job: Job, where: str, problem: Problem, config: Reasoning
) -> tuple[Transcript, Transcript] | None:
    """The problem without the calculator and with it; the result is both `Transcript`s."""
    from core import collect
    from core.evaluation.attempts import transcript_of
    from core.evaluation.questions.asking import prompt_ids_of
    from core.evaluation.tools import both_ways

    model = jobs.load(job, where)

    def run(stage: str, posed: Problem, settings: Reasoning) -> Transcript:
        # Without marks it doesn't think, so a model that is told how isn't told.
        marks = model.think_marks if settings.think_end else None
        ids = prompt_ids_of(model, posed, marks)
        trace = job.compute(stage, collect, model, ids, settings, prompt_text=posed.question)
        return transcript_of(posed, trace)

    alone, called = both_ways(problem, marked(model, config))
    both = run(N_("Without the calculator"), *alone), run(N_("With the calculator"), *called)
    return job.unless_stopped(both)
