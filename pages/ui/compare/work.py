"""Work on both runs with their models: the cause of a difference, and readings under one text."""

from __future__ import annotations

from typing import Any

from core.decoding.comparison.measures import PairMeasures
from core.decoding.comparison.types import Parting
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


def explain(job: Job, left: Trace, right: Trace, *read: Trace) -> Parting | None:
    """Compare two runs, and exchange one setting at a time in the left run's model.

    Args:
        read: both runs as single steps.
    """
    from core.decoding.comparison.deciding import explained

    model = _with_draft(job, _model_of(job, left), left, right)
    return job.unless_stopped(
        job.compute(N_("Exchanging one setting at a time"), explained, model, left, right, read)
    )


def read_under(
    job: Job, left: Trace, right: Trace, text: Any, distribution: Any
) -> PairMeasures | None:
    """Read one run's text with the models of both."""
    from core.decoding.comparison.readings import read_under

    first = _with_draft(job, _model_of(job, left), left)
    same = (left.model_id, left.model_revision, left.dtype) == (
        right.model_id,
        right.model_revision,
        right.dtype,
    )
    second = first if same else _model_of(job, right)
    second = _with_draft(job, second, right)
    return job.unless_stopped(
        job.compute(
            N_("Reading the text"), read_under, first, second, left, right, text, distribution
        )
    )


@jobs.in_background
def read_run(job: Job, run: Trace) -> Trace | None:
    """Read a run's tokens one by one, whatever method emitted them."""
    from core.decoding.comparison.readings import read_run

    model = _with_draft(job, _model_of(job, run), run)
    return job.unless_stopped(job.compute(N_("Reading the text"), read_run, model, run))


def _with_draft(job: Job, model: Any, *runs: Trace) -> Any:
    """Return the model with the draft that contrastive decoding compared it with in the first such
    run."""
    from core.decoding.loop.second import WithDraft

    contrasted = (run for run in runs if run.config.shaping.contrastive_beta)
    run = next(contrasted, None)
    draft = None if run is None else jobs.load_draft_for(job, run)
    return model if draft is None else WithDraft(model, draft)


def _model_of(job: Job, run: Trace) -> Any:
    """Load the model that made a run; the reading takes it in the run's number type.

    Raises:
        ModelError: it can't be found, or is another version now.
        LoadingStoppedError: the job was stopped meanwhile.
    """
    return jobs.load(job, run.model_id, run.model_revision)
