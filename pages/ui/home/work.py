"""Background job of Home."""

from __future__ import annotations

from collections.abc import Sequence

from core.decoding.record.trace import Trace
from core.language import N_, Message
from pages.ui.home.state import HomeView
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request


def run_methods(view: HomeView, requests: Sequence[Request]) -> Job:
    """Run the requests, which share model and prompt; `view.live` holds the runs that ended."""
    view.live = []
    return _run(view.live, requests)


@jobs.in_background
def _run(
    job: Job, made: list[tuple[Trace, Request]], requests: Sequence[Request]
) -> tuple[str, ...]:
    from core.decoding.many.methods import send_methods

    first, drafts = requests[0], [request.draft for request in requests if request.draft]
    job.counts = (0, len(requests))
    unloaded = None if first.chat else models.unloaded(first.model)
    model = unloaded or jobs.load(job, first.model)
    draft = (models.unloaded(drafts[0]) or jobs.load(job, drafts[0])) if drafts else None

    def on_trace(place: int, trace: Trace) -> None:
        made.append((trace, requests[place]))
        job.counts = (place + 1, len(requests))

    def on_tokens(count: int) -> None:
        job.stage = Message("Step {number}", number=count)

    lacking: tuple[str, ...] = job.compute(
        N_("Reading the prompt"),
        send_methods,
        model,
        first.prompt_for(model),
        [request.config for request in requests],
        draft=draft,
        prompt_text=first.prompt,
        on_trace=on_trace,
        on_tokens=on_tokens,
    )
    return lacking
