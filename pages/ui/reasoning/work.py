"""What the reasoning page runs beside its one problem, in worker threads: each stops at a step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from core.decoding.reasoning.config import Reasoning
from core.decoding.trace import Trace
from core.evaluation.sweep.types import BudgetSweep, SweepPlan, SweepRow
from core.evaluation.types import Problem, ProblemSet, Rivalry, StopStrip, Transcript, Vote
from pages.ui.reasoning.problem import marked
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.queue import QUEUE, Turn
from pages.ui.shell import models

WAITING = "Waiting for other sessions"


@contextmanager
def _turn_of(job: Job, where: str) -> Iterator[tuple[Any, Turn]]:
    """The model, loaded, and the turn to run it; `held` is False where the job was stopped."""
    job.stage = "Loading the model"
    model = models.load(where)
    job.stage = WAITING
    with QUEUE.turn(job.should_stop) as turn:
        job.stage = "Running"
        yield model, turn


def where_it_knew(trace: Trace, problem: Problem) -> Job:
    """Stop the run's thinking after each of its steps; the result is a `StopStrip`."""
    return jobs.start(lambda job: _where_it_knew(job, trace, problem))


def _where_it_knew(job: Job, trace: Trace, problem: Problem) -> StopStrip | None:
    from core.evaluation.early_stops import stop_strip

    model = jobs.load_for(job, trace)
    job.stage = WAITING
    with QUEUE.turn(job.should_stop) as turn:
        if not turn.held:
            return None
        job.stage = "Stopping the thinking after each step"
        strip = stop_strip(model, problem, trace, should_stop=turn.should_stop)
    return None if job.should_stop() else strip


def sweep(view: ReasonView, plan: SweepPlan, done: tuple[SweepRow, ...]) -> Job:
    """Run the rows that are missing; `view.live` holds the others. Result: a `BudgetSweep`."""
    view.live = BudgetSweep(plan, done)
    view.counts["sweep"] = (len(done), plan.total)
    return jobs.start(lambda job: _sweep(job, view, plan, done))


def _sweep(
    job: Job, view: ReasonView, plan: SweepPlan, done: tuple[SweepRow, ...]
) -> BudgetSweep | None:
    from core.evaluation.sweep.run import run_sweep

    job.stage = "Loading the model"
    model = models.load(plan.model_id)
    whole = replace(plan, config=marked(model, plan.config), model_revision=model.revision)
    rows = list(done)

    def on_row(row: SweepRow, count: int) -> None:
        rows.append(row)
        view.live = BudgetSweep(whole, tuple(rows))
        view.counts["sweep"] = (count, whole.total)

    job.stage = WAITING
    with QUEUE.turn(job.should_stop) as turn:
        if not turn.held:
            return None
        job.stage = "Running"
        return run_sweep(
            model,
            whole,
            done,
            marks=model.think_marks,
            on_row=on_row,
            should_stop=turn.should_stop,
        )


class Contest(NamedTuple):
    """What a comparison of one long attempt with many short ones is asked for."""

    model: str
    problems: ProblemSet
    config: Reasoning
    total: int
    samples: int


def compare(view: ReasonView, contest: Contest) -> Job:
    """Run both ways; the result is a `Rivalry` over the problems that were done, if any."""
    view.counts["rivals"] = (0, len(contest.problems.problems) * (contest.samples + 2))
    return jobs.start(lambda job: _compare(job, view, contest))


def _compare(job: Job, view: ReasonView, contest: Contest) -> Rivalry | None:
    from core.evaluation.compare import compare_rivals
    from core.evaluation.verifier import check_arithmetic

    with _turn_of(job, contest.model) as (model, turn):
        if not turn.held:
            return None
        found = compare_rivals(
            model,
            contest.problems,
            marked(model, contest.config),
            total_tokens=contest.total,
            samples=contest.samples,
            verifier=check_arithmetic,
            marks=model.think_marks,
            on_attempt=lambda *counts: view.counts.update(rivals=counts),
            should_stop=turn.should_stop,
        )
        return found if found.votes else None


def vote(view: ReasonView, where: str, problem: Problem, config: Reasoning, samples: int) -> Job:
    """Ask a problem so many times in one batch; the result is a `Vote`, if any sample ended."""
    view.counts["vote"] = (0, samples)
    return jobs.start(lambda job: _vote(job, view, where, problem, config, samples))


def _vote(
    job: Job, view: ReasonView, where: str, problem: Problem, config: Reasoning, samples: int
) -> Vote | None:
    from core.evaluation.verifier import check_arithmetic
    from core.evaluation.votes import sample_and_vote

    with _turn_of(job, where) as (model, turn):
        if not turn.held:
            return None
        ended = count(1)
        found = sample_and_vote(
            model,
            problem,
            marked(model, config),
            samples,
            verifier=check_arithmetic,
            marks=model.think_marks,
            on_attempt=lambda _: view.counts.update(vote=(next(ended), samples)),
            should_stop=turn.should_stop,
        )
        return found if found.attempts else None


def tools(where: str, problem: Problem, config: Reasoning) -> Job:
    """The problem without the calculator and with it; the result is both `Transcript`s."""
    return jobs.start(lambda job: _tools(job, where, problem, config))


def _tools(
    job: Job, where: str, problem: Problem, config: Reasoning
) -> tuple[Transcript, Transcript] | None:
    from core import collect
    from core.evaluation.asking import prompt_ids_of
    from core.evaluation.attempts import transcript_of
    from core.evaluation.tools import both_ways

    with _turn_of(job, where) as (model, turn):
        if not turn.held:
            return None

        def run(stage: str, asked: Problem, settings: Reasoning) -> Transcript:
            job.stage = stage
            # Without marks it doesn't think, so a model that is told how isn't told.
            marks = model.think_marks if settings.think_end else None
            trace = collect(
                model,
                prompt_ids_of(model, asked, marks),
                settings,
                on_step=lambda _: turn.pass_on(),
                should_stop=job.should_stop,
                prompt_text=asked.question,
            )
            return transcript_of(asked, trace)

        alone, called = both_ways(problem, marked(model, config))
        both = run("Without the calculator", *alone), run("With the calculator", *called)
    return None if job.should_stop() else both
