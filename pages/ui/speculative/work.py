"""What the speculative page measures on demand, by the worker: times, lengths, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.decoding.counting import place_of
from core.decoding.record.trace import Trace
from core.decoding.speculative.config import SCORINGS
from pages.ui.run import jobs
from pages.ui.run.jobs import Job

JobWork = Callable[[Job, Any, Any, Callable[[], bool]], Any]
"""What is done with target and draft; the last argument is asked after each step."""


def _start(trace: Trace, work: JobWork) -> Job:
    def run(job: Job) -> Any:
        model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
        with job.turn("Running") as turn:
            return work(job, model, draft, turn.should_stop)

    return jobs.start(run)


def _measure(trace: Trace, measurement: str, what: str, **how: int) -> Job:
    """Start a function of `core.decoding.speculative.measure` that counts its runs or pairs; the
    stage is the one under way."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core.decoding.speculative import measure

        def on_progress(done: int, total: int) -> None:
            job.stage = place_of(what, min(done, total - 1), total)

        job.stage = f"{what} 1"
        asked = (model, trace.prompt_ids, trace.config, draft)
        measured = getattr(measure, measurement)
        return measured(*asked, on_progress=on_progress, should_stop=should_stop, **how)

    return _start(trace, work)


def compare(trace: Trace, repeats: int) -> Job:
    """Run speculative and target-only decoding in turns; the result is a `Comparison`."""
    return _measure(trace, "compare", "Pair", repeats=repeats)


def sweep(trace: Trace) -> Job:
    """Measure several draft lengths; the result is a `LengthSweep`."""
    return _measure(trace, "sweep_lengths", "Run")


def count(trace: Trace, runs: int, tokens: int) -> Job:
    """Many short runs of both methods; the result is a `Losslessness`."""
    return _measure(trace, "losslessness", "Run", runs=runs, tokens=tokens)


def alone(trace: Trace) -> Job:
    """The target without a draft, under the same settings; the result is a `Trace`."""

    def work(job: Job, model: Any, _: Any, should_stop: Callable[[], bool]) -> Trace | None:
        from core import collect
        from core.decoding.speculative.baseline import target_only

        job.stage = "Target alone"
        config = target_only(trace.config)  # type: ignore[arg-type]
        found = collect(model, trace.prompt_ids, config, should_stop=should_stop)
        return job.unless_stopped(found)

    return _start(trace, work)


def score_both_ways(trace: Trace, repeats: int) -> Job:
    """The same run under either way of scoring, in turns; the result is their traces by way."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core import collect

        found: dict[str, list[Trace]] = {scoring: [] for scoring in SCORINGS}
        for done in range(repeats):
            job.stage = place_of("Pair", done, repeats)
            for scoring in SCORINGS:
                config = replace(trace.config, scoring=scoring)  # type: ignore[call-arg]
                run = collect(model, trace.prompt_ids, config, draft=draft, should_stop=should_stop)
                if job.should_stop():
                    return None
                found[scoring].append(run)
        return found

    return _start(trace, work)
