"""Background job of the page of many runs."""

from __future__ import annotations

from core.decoding.many.plan import RunBatch
from core.decoding.many.types import sharing_prompt
from core.decoding.record.trace import Trace
from core.language import N_, Message
from pages.ui.many.controls import count_of
from pages.ui.many.state import ManyView
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request


def run_many(view: ManyView, mode: str, request: Request, batches: tuple[RunBatch, ...]) -> Job:
    """Run the batches; `view.live` holds the runs so far, and all of them at the end."""
    view.live = (mode, [])
    return _run(view.live[1], request, batches)


@jobs.in_background
def _run(job: Job, made: list[Trace], request: Request, batches: tuple[RunBatch, ...]) -> None:
    from core.decoding.many.run import send_batches

    total, tokens = count_of(batches), request.config.max_new_tokens
    job.counts = (0, total)
    unloaded = None if request.chat else models.unloaded(request.model)
    model = unloaded or jobs.load(job, request.model)

    def on_trace(trace: Trace) -> None:
        made.append(sharing_prompt(trace, made))
        job.counts = (len(made), total)

    def on_tokens(count: int) -> None:
        job.stage = Message("Token {number} of {total}", number=min(count, tokens), total=tokens)

    job.compute(
        N_("Reading the prompt"),
        send_batches,
        model,
        request.prompt_for(model),
        batches,
        prompt_text=request.prompt,
        on_trace=on_trace,
        on_tokens=on_tokens,
    )
