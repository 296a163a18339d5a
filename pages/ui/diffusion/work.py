"""Background job of the diffusion page: parallel against sequential probabilities."""

from __future__ import annotations

from typing import Any

from core.decoding.counting import place_of
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


@jobs.in_background
def measure_together(job: Job, trace: Trace) -> Any:
    """Fill each step's tokens one by one; the result is a tuple of `TogetherToken`."""
    from core.decoding.diffusion.pairs import together

    def on_progress(done: int, total: int) -> None:
        job.stage = place_of("Forward", min(done, total - 1), total)

    model = jobs.load_for(job, trace)
    return job.compute(
        N_("Preparing the forwards"), together, model, trace, on_progress=on_progress
    )
