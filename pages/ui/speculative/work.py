"""Background jobs of the speculative page: times, draft lengths, samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.decoding.counting import place_of
from core.decoding.record.trace import Trace
from core.decoding.speculative.config import SCORINGS, Speculative
from core.language import N_
from core.models.places import DEFAULT_DRAFTS
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


@jobs.in_background
def _measure(job: Job, /, trace: Trace, measurement: str, what: str, **how: int) -> Any:
    """Call a function of `measurement.measure` that counts its runs or pairs.

    `what` is the current stage's name.
    """
    from core.decoding.speculative.measurement import measure

    def on_progress(done: int, total: int) -> None:
        job.stage = place_of(what, min(done, total - 1), total)

    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    arguments = (model, trace.prompt_ids, trace.config, draft)
    function = getattr(measure, measurement)
    return job.compute(f"{what} 1", function, *arguments, on_progress=on_progress, **how)


def compare(trace: Trace, repeats: int) -> Job:
    """Run speculative and target-only decoding in turns; the result is a `Comparison`."""
    return _measure(trace, "compare", "Pair", repeats=repeats)


def sweep(trace: Trace) -> Job:
    """Measure several draft lengths; the result is a `LengthSweep`."""
    return _measure(trace, "sweep_lengths", "Run")


def count(trace: Trace, runs: int, tokens: int) -> Job:
    """Many short runs of both methods; the result is a `Losslessness`."""
    return _measure(trace, "losslessness", "Run", runs=runs, tokens=tokens)


@jobs.in_background
def sources(job: Job, trace: Trace) -> Any:
    """Measure every source and shape of drafts; the result is a tuple of `SourceRow`."""
    from core.decoding.speculative.measurement.kinds import measure_sources

    def on_progress(done: int, total: int) -> None:
        job.stage = place_of("Run", min(done, total - 1), total)

    model, drafts = jobs.load_for(job, trace), dict[str, Any]()
    for name, where in DEFAULT_DRAFTS.items():
        drafts[name] = jobs.load(job, where)
    if trace.draft_id:
        drafts[trace.require(Speculative).config.drafter] = jobs.load_draft_for(job, trace)
    arguments = model, trace.prompt_ids, trace.config, drafts
    rows = job.compute(N_("Sources"), measure_sources, *arguments, on_progress=on_progress)
    return rows or None


@jobs.in_background
def exits(job: Job, trace: Trace) -> Any:
    """Measure the acceptance of every exit layer; the result is an `ExitLayers`."""
    from core.decoding.speculative.measurement.exits import exit_layers

    def on_progress(done: int, total: int) -> None:
        job.stage = place_of("Layer", min(done, total - 1), total)

    model = jobs.load_for(job, trace)
    return job.compute("Layer 1", exit_layers, model, trace, on_progress=on_progress)


@jobs.in_background
def alone(job: Job, trace: Trace) -> Trace | None:
    """The target without a draft, under the same settings; the result is a `Trace`."""
    from core import collect
    from core.decoding.speculative.measurement.baseline import target_only

    model = jobs.load_for(job, trace)
    config = target_only(trace.config)  # type: ignore[arg-type]
    run = job.compute(N_("Target alone"), collect, model, trace.prompt_ids, config)
    return job.unless_stopped(run)


@jobs.in_background
def score_both_ways(job: Job, trace: Trace, repeats: int) -> dict[str, list[Trace]] | None:
    """The same run under either way of scoring, in turns; the result is their traces by way."""
    from core import collect

    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    runs: dict[str, list[Trace]] = {scoring: [] for scoring in SCORINGS}
    for done in range(repeats):
        stage = place_of("Pair", done, repeats)
        for scoring in SCORINGS:
            config = replace(trace.config, scoring=scoring)  # type: ignore[call-arg]
            run = job.compute(stage, collect, model, trace.prompt_ids, config, draft=draft)
            if job.should_stop():
                return None
            runs[scoring].append(run)
    return runs
