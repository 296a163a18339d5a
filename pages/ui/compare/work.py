"""Work on both runs with their models: the cause of a difference, and readings under one text."""

from __future__ import annotations

from typing import Any

from core.decoding.autoregressive.config import Greedy
from core.decoding.comparison.measures import PairMeasures
from core.decoding.comparison.types import Parting
from core.decoding.record.trace import Trace
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request


def explain(job: Job, left: Trace, right: Trace) -> Parting | None:
    """Compare two runs, and exchange one setting at a time in the left run's model."""
    from core.decoding.comparison.deciding import explained

    model = jobs.load_for(job, left)
    return job.unless_stopped(
        job.compute("Exchanging one setting at a time", explained, model, left, right)
    )


def read_under(
    job: Job, left: Trace, right: Trace, text: Any, distribution: Any
) -> PairMeasures | None:
    """Read one run's text with the models of both."""
    from core.decoding.comparison.readings import read_under

    models = [jobs.load_for(job, run) for run in (left, right)]
    return job.unless_stopped(
        job.compute("Reading the text", read_under, *models, left, right, text, distribution)
    )


def reading(run: Trace) -> Request:
    """Return the request that reads a run's tokens one by one, whatever method made them."""
    count = max(len(run.token_ids), 1)
    config = Greedy(max_new_tokens=count)
    return Request(run.model_id, run.prompt, config, ids=run.prompt_ids, given=run.token_ids)
