"""Work on the model in a worker thread: start it, watch it, stop it at the next step."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Event, Lock, Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import DecodingError, ModelError
from core.decoding.beam.types import BeamStep
from core.decoding.errors import LoadingStoppedError
from core.decoding.record.trace import Step, TokenStep, Trace
from core.decoding.speculative.types import DraftRound
from core.models.stopping import stoppable
from core.server.queue import QUEUE, Turn
from pages.ui.run.request import Request
from pages.ui.shell import models
from pages.ui.shell.guard import UNEXPECTED
from pages.ui.widgets.control import in_words

POLL_SECONDS = 0.15
# While many sessions are busy each of them looks more seldom: the first of these at most, until the
# second times their number is more.
SELDOM_POLL_SECONDS, CROWDED_POLL_SECONDS = 1.5, 0.08
# More than a page starts by itself: the lab measures three things of each step that it shows. What
# was stopped ends at its next step, and counts among all of a session's threads only.
MOST_JOBS, MOST_THREADS = 12, 48
TOO_MANY = f"You have {MOST_JOBS} pieces of work under way: stop one, or wait until one has ended."
# A job that nobody polled for so long is cancelled: a browser polls a hidden tab once a minute.
ABANDONED_SECONDS = 120.0
# The same where the browser has gone; it may come back after a broken connection.
GONE_SECONDS = 15.0
RUN_AGAIN = "press Run to make it again"
_STEPS = (TokenStep, BeamStep)
P, T = ParamSpec("P"), TypeVar("T")
_lock, _active = Lock(), set["Job"]()


class StoppedError(Exception):
    """The job was stopped before its work began: it has no result."""


@dataclass(eq=False)
class Job:
    """One piece of work in its own thread; the page reads these fields while it goes on.

    Args:
        session: whose work it is; None outside of a session.
        counts: how many runs of how many have ended, of work that makes several.
        left: the time that they still take, in words; empty while nobody knows.
    """

    session: str | None = None

    stage: str = "Starting"
    counts: tuple[int, int] = (0, 1)
    left: str = ""
    steps: list[Step] = field(default_factory=list)
    result: Any = None
    error: str = ""
    started: float = field(default_factory=time.monotonic)
    watched: float = field(default_factory=time.monotonic)
    ended: float | None = None
    stopping: Event = field(default_factory=Event)
    done: Event = field(default_factory=Event)

    @property
    def runs_words(self) -> str:
        """How far work is that makes several runs."""
        parts = [self.stage, "{:,} of {:,} runs".format(*self.counts), f"{self.seconds:.0f} s"]
        return " · ".join([*parts, self.left] if self.left else parts)

    @property
    def active(self) -> bool:
        return not self.done.is_set()

    @property
    def seconds(self) -> float:
        """Since the start, up to the end or now."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def tokens(self) -> int:
        """Steps made so far; of speculative decoding the tokens that its rounds emitted."""
        return sum(
            len(step.token_ids) if isinstance(step, DraftRound) else isinstance(step, _STEPS)
            for step in self.steps
        )

    def watch(self) -> None:
        """Say that somebody still looks at this job."""
        self.watched = time.monotonic()

    def tell(self, stage: str) -> None:
        """Say how far the work is."""
        self.stage = stage

    def stop(self) -> None:
        """End the work at its next step."""
        self.stopping.set()

    def should_stop(self) -> bool:
        """Asked by the work itself; work that was abandoned once stays so."""
        unwatched = time.monotonic() - self.watched
        gone = unwatched > GONE_SECONDS and not _is_connected(self.session)
        if gone or unwatched > ABANDONED_SECONDS:
            self.stopping.set()
        return self.stopping.is_set()

    @contextmanager
    def turn(self, stage: str) -> Iterator[Turn]:
        """Wait for the turn to use the models, then hold it under this stage.

        Raises:
            StoppedError: the job was stopped while it waited.
        """
        self.stage = "Waiting for other sessions"
        with QUEUE.turn(self.should_stop, self.session) as turn:
            if not turn.held:
                raise StoppedError
            self.stage = stage
            yield turn

    def unless_stopped(self, result: T) -> T | None:
        """The result, where half of it would be worth nothing; None where the job was stopped."""
        return None if self.should_stop() else result


def start(work: Callable[[Job], Any]) -> Job:
    """Run `work(job)` in a thread; what it returns becomes `job.result`.

    A session that has too much under way gets a job that has failed with `TOO_MANY`.
    """
    job = Job(session=_session())
    with _lock:
        own = [other for other in _active if other.session == job.session]
        going = sum(not other.stopping.is_set() for other in own)
        if job.session is not None and (going >= MOST_JOBS or len(own) >= MOST_THREADS):
            job.error = TOO_MANY
            job.ended = time.monotonic()
            job.done.set()
            return job
        _active.add(job)
    Thread(target=_run, args=(job, work), daemon=True, name="decoding").start()
    return job


def _session() -> str | None:
    """The session whose page is being drawn; None outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else None


def _is_connected(session: str | None) -> bool:
    """Whether a browser shows the session; taken for granted outside of a server."""
    if session is None or not runtime.exists():
        return True
    return runtime.get_instance().is_active_session(session)


def poll_seconds() -> float:
    """How often a page should look at its work, by how many sessions are busy."""
    busy = max(1, _busy_sessions())
    return max(min(SELDOM_POLL_SECONDS, POLL_SECONDS * busy), CROWDED_POLL_SECONDS * busy)


def is_quiet() -> bool:
    """Whether there is time for what nobody has asked for yet."""
    return _busy_sessions() <= 2


def _busy_sessions() -> int:
    """How many sessions, and keys of the endpoint, have work under way; loading a model counts."""
    with _lock:
        return max(QUEUE.sessions, len({job.session for job in _active}))


def in_background(work: Callable[Concatenate[Job, P], Any]) -> Callable[P, Job]:
    """A function of a job and more as one of the rest, which starts it and returns the job."""

    @wraps(work)
    def begin(*args: P.args, **named: P.kwargs) -> Job:
        return start(lambda job: work(job, *args, **named))

    return begin


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    try:
        with stoppable(job.should_stop):
            job.result = work(job)
    except (StoppedError, LoadingStoppedError):
        pass
    except DecodingError as error:
        job.error = in_words(error)
    except Exception:
        job.error = UNEXPECTED
        traceback.print_exc(file=sys.stderr)
    finally:
        with _lock:
            _active.discard(job)
        job.ended = time.monotonic()
        job.done.set()


@in_background
def decode(job: Job, request: Request) -> Trace:
    """Decode the request; the result is a proved `Trace`, or None when stopped before a step."""
    from core import check, collect

    model = load(job, request.model)
    draft = load(job, request.draft) if request.draft else None
    prompt = request.prompt_for(model)
    with job.turn("Reading the prompt") as turn:

        def on_step(step: Step) -> None:
            job.steps.append(step)
            job.stage = "Decoding"
            turn.pass_on()

        trace = collect(
            model,
            prompt,
            request.config_for(model),
            draft=draft,
            on_step=on_step,
            should_stop=job.should_stop,
            prompt_text=request.prompt,
        )
        job.stage = "Checking"
        return trace.with_checks(tuple(check(trace)))


@in_background
def check_trace(job: Job, trace: Trace, *, with_model: bool) -> Any:
    """Prove the trace again: against itself, or also against the model.

    With the model, its tokens are scored in one independent forward, and transformers' own
    `generate` runs beside it. The result is a tuple of checks.
    """
    from core import check

    model = load_for(job, trace) if with_model else None
    draft = load_draft_for(job, trace) if with_model else None
    with job.turn("Checking"):
        return tuple(check(trace, model, draft))


def load_for(job: Job, trace: Trace) -> Any:
    """The model that made the trace, and no other version of it."""
    return load(job, trace.model_id, trace.model_revision)


def load_draft_for(job: Job, trace: Trace) -> Any:
    """The draft model of a speculative run, and no other version of it; None where it had none."""
    return load(job, trace.draft_id, trace.draft_revision) if trace.draft_id else None


def load_rewards(job: Job, where: str) -> Any:
    """The reward model of this name.

    Raises:
        ModelError: it can't be found, or isn't offered here.
        StoppedError: the job was stopped meanwhile.
    """
    job.stage = "Loading the reward model"
    try:
        return models.load_rewards(where, job.should_stop)
    except LoadingStoppedError:
        raise StoppedError from None


def load(job: Job, where: str, revision: str = "", remedy: str = RUN_AGAIN) -> Any:
    """The model in this version, or in any where none is named.

    Raises:
        ModelError: it can't be found, or is another version now.
        StoppedError: the job was stopped meanwhile.
    """
    job.stage = "Loading the model"
    try:
        model = models.load(where, job.should_stop, job.tell)
    except LoadingStoppedError:
        raise StoppedError from None
    from core.models.threads import leave_a_processor

    leave_a_processor()
    if revision and model.revision and revision != model.revision:
        raise ModelError(f"This run was made with another version of the model: {remedy}.")
    return model
