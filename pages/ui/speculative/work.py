"""What the speculative page measures on demand, by the worker: times, lengths, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.decoding.speculative.config import SCORINGS, Speculative
from core.decoding.trace import Trace
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.queue import QUEUE

Work = Callable[[Job, Any, Any, Callable[[], bool]], Any]
"""What is done with target and draft; the last argument is asked after each step."""


def _start(trace: Trace, work: Work) -> Job:
    return jobs.start(lambda job: _run(job, trace, work))


def _run(job: Job, trace: Trace, work: Work) -> Any:
    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    job.stage = "Waiting for other sessions"
    with QUEUE.turn(job.should_stop) as turn:
        return work(job, model, draft, turn.should_stop) if turn.held else None


def _counting(job: Job, what: str) -> Callable[[int, int], None]:
    def on_progress(done: int, total: int) -> None:
        job.stage = f"{what} {done} of {total}"

    job.stage = f"{what} 1"
    return on_progress


def _config(trace: Trace) -> Speculative:
    return trace.require(Speculative).config


def compare(trace: Trace, repeats: int) -> Job:
    """Run speculative and target-only decoding in turns; the result is a `Comparison`."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core.decoding.speculative.measure import compare as measure

        return measure(
            model,
            trace.prompt_ids,
            _config(trace),
            draft,
            repeats=repeats,
            on_progress=_counting(job, "Pair"),
            should_stop=should_stop,
        )

    return _start(trace, work)


def sweep(trace: Trace) -> Job:
    """Measure several draft lengths; the result is a `LengthSweep`."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core.decoding.speculative.measure import sweep_lengths

        return sweep_lengths(
            model,
            trace.prompt_ids,
            _config(trace),
            draft,
            on_progress=_counting(job, "Run"),
            should_stop=should_stop,
        )

    return _start(trace, work)


def count(trace: Trace, runs: int, tokens: int) -> Job:
    """Many short runs of both methods; the result is a `Losslessness`."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core.decoding.speculative.measure import losslessness

        return losslessness(
            model,
            trace.prompt_ids,
            _config(trace),
            draft,
            runs=runs,
            tokens=tokens,
            on_progress=_counting(job, "Run"),
            should_stop=should_stop,
        )

    return _start(trace, work)


def alone(trace: Trace) -> Job:
    """The target without a draft, under the same settings; the result is a `Trace`."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Trace | None:  # noqa: ARG001 - the target is alone
        from core import collect
        from core.decoding.speculative.measure import target_only

        job.stage = "Target alone"
        config = target_only(_config(trace))
        found = collect(model, trace.prompt_ids, config, should_stop=should_stop)
        return None if job.should_stop() else found

    return _start(trace, work)


def score_both_ways(trace: Trace, repeats: int) -> Job:
    """The same run under either way of scoring, in turns; the result is their traces by way."""

    def work(job: Job, model: Any, draft: Any, should_stop: Callable[[], bool]) -> Any:
        from core import collect

        found: dict[str, list[Trace]] = {scoring: [] for scoring in SCORINGS}
        for done in range(repeats):
            job.stage = f"Pair {done + 1} of {repeats}"
            for scoring in SCORINGS:
                config = replace(_config(trace), scoring=scoring)
                run = collect(model, trace.prompt_ids, config, draft=draft, should_stop=should_stop)
                if job.should_stop():
                    return None
                found[scoring].append(run)
        return found

    return _start(trace, work)
