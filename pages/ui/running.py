"""Work on the model in a worker thread: start it, watch it, stop it at the next step."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from core import DecodingError, ModelError
from core.decoding.types import BeamStep, Step, TokenStep, Trace
from pages.ui import models
from pages.ui.compute import QUEUE
from pages.ui.request import Request

POLL_SECONDS = 0.15
# A page that nobody looks at any more stops asking; its run ends by itself.
ABANDONED_SECONDS = 120.0
UNEXPECTED = "Something went wrong in the app. The details are in the log of the server."


@dataclass(eq=False)
class Job:
    """One piece of work in its own thread; the page reads these fields while it goes on."""

    stage: str = "Starting"
    steps: list[Step] = field(default_factory=list)
    result: Any = None
    error: str = ""
    started: float = field(default_factory=time.monotonic)
    watched: float = field(default_factory=time.monotonic)
    ended: float | None = None
    stopping: Event = field(default_factory=Event)
    done: Event = field(default_factory=Event)

    @property
    def active(self) -> bool:
        return not self.done.is_set()

    @property
    def seconds(self) -> float:
        """Since the start, up to the end or now."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def tokens(self) -> int:
        return sum(isinstance(step, TokenStep | BeamStep) for step in self.steps)

    def watch(self) -> None:
        """Say that somebody still looks at this job."""
        self.watched = time.monotonic()

    def stop(self) -> None:
        """End the work at its next step."""
        self.stopping.set()

    def should_stop(self) -> bool:
        return self.stopping.is_set() or time.monotonic() - self.watched > ABANDONED_SECONDS


def start(work: Callable[[Job], Any]) -> Job:
    """Run `work(job)` in a thread; what it returns becomes `job.result`."""
    job = Job()
    Thread(target=_run, args=(job, work), daemon=True, name="decoding").start()
    return job


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    try:
        job.result = work(job)
    except DecodingError as error:
        job.error = str(error)
    except Exception:
        job.error = UNEXPECTED
        traceback.print_exc(file=sys.stderr)
    finally:
        job.ended = time.monotonic()
        job.done.set()


def decode(request: Request) -> Job:
    """Decode the request; the result is a proved `Trace`, or None when stopped before a step."""
    return start(lambda job: _decode(job, request))


def _decode(job: Job, request: Request) -> Trace | None:
    from core import check, collect

    model = _load(job, request.model)
    prompt = request.prompt_for(model)
    job.stage = "Waiting for other sessions"
    with QUEUE.turn(job.should_stop) as turn:
        if not turn.held:
            return None
        job.stage = "Reading the prompt"

        def on_step(step: Step) -> None:
            job.steps.append(step)
            job.stage = "Decoding"
            turn.pass_on()

        trace = collect(
            model,
            prompt,
            request.config_for(model),
            on_step=on_step,
            should_stop=job.should_stop,
            prompt_text=request.prompt,
        )
    job.stage = "Checking"
    return trace.with_checks(tuple(check(trace)))


def check_trace(trace: Trace, *, with_model: bool) -> Job:
    """Prove the trace again: against itself, or also against the model.

    With the model, its tokens are scored in one independent forward, and transformers' own
    `generate` runs beside it. The result is a tuple of checks.
    """
    return start(lambda job: _check(job, trace, with_model))


def _check(job: Job, trace: Trace, with_model: bool) -> Any:
    from core import check

    model = load_for(job, trace) if with_model else None
    with QUEUE.turn(job.should_stop) as turn:
        job.stage = "Checking"
        return tuple(check(trace, model)) if turn.held else None


def logits_of(trace: Trace, index: int) -> Job:
    """The full logits of one step, from one forward over its prefix: `(model, logits)`."""
    return start(lambda job: _logits(job, trace, index))


def _logits(job: Job, trace: Trace, index: int) -> Any:
    from core.decoding.reshape import logits_at

    model = load_for(job, trace)
    with QUEUE.turn(job.should_stop) as turn:
        job.stage = "Reading this step's logits"
        return (model, logits_at(model, trace, index)) if turn.held else None


def load_for(job: Job, trace: Trace) -> Any:
    """The model that made the trace, and no other version of it."""
    model = _load(job, trace.model_id)
    if trace.model_revision and model.revision and trace.model_revision != model.revision:
        raise ModelError(
            "This run was made with another version of the model: press Run to make it again."
        )
    return model


def _load(job: Job, where: str) -> Any:
    job.stage = "Loading the model"
    return models.load(where)
