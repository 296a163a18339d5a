"""Jobs of pages: each session's work on the models, watched by its page and bounded in number."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from core import DecodingError, language
from core.decoding.record.steps import Step
from core.decoding.record.trace import Trace
from core.language import N_, Message, tr
from core.server.job import JobState, ModelJob, tokens_in
from core.server.queue import QUEUE
from core.server.worker.reference import UnloadedModel
from core.server.worker.workers import IN_PROCESS
from pages.ui.platform import session
from pages.ui.platform.guard import UNEXPECTED
from pages.ui.resources import models
from pages.ui.run.request import Fork, Request
from pages.ui.run.same_model import require_same
from pages.ui.widgets.controls.control import in_words

POLL_SECONDS = 0.15
# Polling intervals while many views of running jobs are open: at most the first, or the second
# times the number of views if that is more.
SELDOM_POLL_SECONDS, CROWDED_POLL_SECONDS = 1.5, 0.08
# More than a page starts by itself: the lab makes three measurements of each step that it shows.
# A stopped job ends at its next step, and until then counts only as one of the session's threads.
MOST_JOBS, MOST_THREADS = 12, 48
TOO_MANY = Message(
    "You have {most_jobs} pieces of work under way: stop one, or wait until one has ended.",
    most_jobs=MOST_JOBS,
)
# A view that polled no job for this long isn't visible: a hidden tab, or a page that was left.
UNSEEN_SECONDS = 15.0
# A job not polled for this long is cancelled: a hidden tab polls once in 50 s (`browser.js`).
ABANDONED_SECONDS = 120.0
# The same for a disconnected browser, which may come back after a broken connection.
GONE_SECONDS = 15.0
WAITING, LOADING = N_("Waiting for other sessions"), N_("Loading the model")
RUN_AGAIN = Message("press Run to make it again")
P = ParamSpec("P")
T = TypeVar("T")
_lock, _active = Lock(), set["Job"]()


@dataclass(eq=False, kw_only=True)
class Job(ModelJob):
    """A job of a page, which reads these fields while it goes on.

    Args:
        session: the browser session that it belongs to; None outside of one.
        counts: finished runs and all runs, for work that makes several.
        left: the remaining time in words; empty while unknown.
        language: its reader's, for the words of its progress.
    """

    session: str | None = None
    stage: str = N_("Starting")
    counts: tuple[int, int] = (0, 1)
    left: str = ""
    watched: float = field(default_factory=time.monotonic)
    language: str = field(default_factory=language.current)

    @property
    def runs_words(self) -> str:
        """Progress in words of work that makes several runs."""
        done, total = self.counts
        runs = tr("{done:,} of {total:,} runs", done=done, total=total)
        parts = [tr(self.stage), runs, f"{self.seconds:.0f} s", self.left]
        return " · ".join(filter(None, parts))

    @property
    def tokens(self) -> int:
        """Number of steps so far; in speculative decoding, of the tokens that rounds emitted."""
        return sum(map(tokens_in, self.steps))

    def watch(self) -> None:
        """Record that a page has just polled this job."""
        self.watched = time.monotonic()

    def set_stage(self, stage: str) -> None:
        """Set the stage that the page shows."""
        self.stage = stage

    def should_stop(self) -> bool:
        """Return whether the work must end; work that was abandoned once is stopped for good."""
        unwatched = time.monotonic() - self.watched
        gone = unwatched > GONE_SECONDS and not session.is_connected(self.session)
        if gone or unwatched > ABANDONED_SECONDS:
            self.stopping.set()
        return self.stopping.is_set()

    def compute(self, stage: str, function: Callable[..., T], *args: Any, **named: Any) -> T:
        """Call a function of the core under this stage, in a worker process if possible.

        Args:
            named: includes callbacks named `on_...`; `should_stop` is added if the function has
                such a parameter.

        Raises:
            StoppedError, LoadingStoppedError: the job was stopped while it waited.
        """
        loads = any(isinstance(arg, UnloadedModel) for arg in (*args, *named.values()))
        self.stage = LOADING if loads else WAITING
        workers = models.workers() if session.has_server() else IN_PROCESS
        return workers.compute(
            self, QUEUE, function, *args, on_turn=lambda: self.set_stage(stage), **named
        )

    def unless_stopped(self, result: T) -> T | None:
        """Return the result; None if the job was stopped, as a partial result is of no use."""
        return None if self.should_stop() else result

    def run(self, work: Callable[[Self], Any]) -> None:
        """Do the work, with the words of its progress in the reader's language."""
        with language.use(self.language):
            super().run(work)

    def explain(self, error: Exception) -> str:
        """Return the page's message for one of the app's errors, for `tr`; log any other error."""
        if isinstance(error, DecodingError):
            return in_words(error)
        traceback.print_exc(file=sys.stderr)
        return UNEXPECTED

    def end(self, state: JobState, error: str = "") -> None:
        """Mark the job as ended, and make room for the session's next job."""
        with _lock:
            _active.discard(self)
        super().end(state, error)


def start(work: Callable[[Job], Any]) -> Job:
    """Run `work(job)` in a thread; its return value becomes `job.result`.

    A session with too many active jobs gets a job that has failed with `TOO_MANY`.
    """
    job = Job(session=session.current())
    with _lock:
        jobs = [active for active in _active if active.session == job.session]
        going = sum(not active.stopping.is_set() for active in jobs)
        full = job.session is not None and (going >= MOST_JOBS or len(jobs) >= MOST_THREADS)
        if not full:
            _active.add(job)
    if full:
        job.end("failed", TOO_MANY)
    else:
        job.start(work)
    return job


def poll_seconds() -> float:
    """Return the interval at which a page polls its jobs; longer while many pages poll."""
    views = max(1, _running_views())
    return max(min(SELDOM_POLL_SECONDS, POLL_SECONDS * views), CROWDED_POLL_SECONDS * views)


def is_quiet() -> bool:
    """Return whether the server has time for prefetching."""
    return _busy_sessions() <= 2


def _running_views() -> int:
    """Count the sessions with a running job that their page has polled lately."""
    since = time.monotonic() - UNSEEN_SECONDS
    with _lock:
        return len({job.session for job in _active if job.watched > since})


def _busy_sessions() -> int:
    """Count the sessions, and keys of the endpoint, with work under way; loading a model counts."""
    with _lock:
        pages = {job.session for job in _active}
    return max(QUEUE.sessions, len(pages.union(models.workers().sessions)))


def in_background(work: Callable[Concatenate[Job, P], Any]) -> Callable[P, Job]:
    """Decorate a function of a job: a call without the job starts one and returns it."""

    @wraps(work)
    def begin(*args: P.args, **named: P.kwargs) -> Job:
        return start(lambda job: work(job, *args, **named))

    return begin


@in_background
def decode(job: Job, request: Request) -> Trace:
    """Decode the request; the result is a proved `Trace`, or None when stopped before a step."""
    from core.decoding.check import branch_checked, collect_checked, read_checked

    fork = request.fork
    if fork:
        model = _load_to_fork(job, fork.trace)
    else:
        # A chat is encoded here, by the model itself.
        unloaded = None if request.chat else models.unloaded(request.model)
        model = unloaded or load(job, request.model)
    draft = (models.unloaded(request.draft) or load(job, request.draft)) if request.draft else None

    def on_step(step: Step) -> None:
        job.steps.append(step)
        job.stage = tr("Decoding")

    if fork:
        return job.compute(
            tr("Reading the text before the step"),
            branch_checked,
            model,
            fork.trace,
            fork.at_step,
            fork.ids_for(model),
            config=request.config_for(model),
            on_step=on_step,
        )
    if request.reads:
        return job.compute(
            tr("Reading the text"), read_checked, model, request.prompt, on_step=on_step
        )
    return job.compute(
        tr("Reading the prompt"),
        collect_checked,
        model,
        request.prompt_for(model),
        request.config_for(model),
        draft=draft,
        on_step=on_step,
        prompt_text=request.prompt,
        given=request.given,
        dtype=request.dtype,
    )


@in_background
def grow(job: Job, requests: Sequence[Request]) -> Any:
    """Make runs that go on from one step in one batch; the result is `((Trace, Request), ...)`."""
    from core.decoding.check import branch_each_checked

    fork = requests[0].fork
    assert fork is not None
    choices = [request.fork.token_ids for request in requests if request.fork]
    model, total = _load_to_fork(job, fork.trace), requests[0].config.max_new_tokens

    def on_tokens(count: int) -> None:
        job.counts = fork.at_step + count, total

    traces = job.compute(
        tr("Growing"), branch_each_checked, model, fork.trace, fork.at_step, choices,
        on_tokens=on_tokens,
    )  # fmt: skip
    return tuple(zip(traces, requests, strict=True))


@in_background
def grow_above(
    job: Job,
    request: Request,
    least: float,
    depth: int,
    most: int,
    known: Sequence[Sequence[int]],
) -> Any:
    """Make the runs of a growth by a threshold; the result is `((Trace, Request), ...)`."""
    from core.decoding.check import grow_above_checked

    fork = request.fork
    assert fork is not None
    job.counts = 0, most
    model = _load_to_fork(job, fork.trace)

    def on_runs(count: int) -> None:
        job.counts = count, most

    grown = job.compute(
        tr("Growing"), grow_above_checked, model, fork.trace, fork.at_step, least,
        depth=depth, most=most, known=known, on_runs=on_runs,
    )  # fmt: skip
    runs: list[tuple[Trace, Request]] = []
    for run in grown:
        source = fork.trace if run.parent is None else runs[run.parent][0]
        own = Fork(source, run.at_step, (run.token_id,))
        runs.append((run.trace, replace(request, fork=own)))
    return tuple(runs)


@in_background
def check_trace(job: Job, trace: Trace, *, with_model: bool) -> Any:
    """Prove the trace again: against itself, or also against the model.

    With the model, its tokens are scored in one independent forward, and transformers' own
    `generate` runs beside it. The result is a tuple of checks.
    """
    from core import check

    model = load_for(job, trace) if with_model else None
    draft = load_draft_for(job, trace) if with_model else None
    return tuple(job.compute(tr("Checking"), check, trace, model, draft))


def load_for(job: Job, trace: Trace) -> Any:
    """Load the model that made the trace, in the same version and number type."""
    return load(job, trace.model_id, trace.model_revision, trace.dtype)


def load_draft_for(job: Job, trace: Trace) -> Any:
    """Load the draft model of a speculative run, in the same version and number type; None without
    a draft."""
    if not trace.draft_id:
        return None
    return load(job, trace.draft_id, trace.draft_revision, trace.draft_dtype)


def _load_to_fork(job: Job, trace: Trace) -> Any:
    """Load the model for new runs from the trace's tokens, which copy no step of another number
    type."""
    return load(job, trace.model_id, trace.model_revision)


def load_rewards(job: Job, where: str) -> Any:
    """Load the reward model of this name.

    Raises:
        ModelError: it can't be found, or isn't offered here.
        LoadingStoppedError: the job was stopped meanwhile.
    """
    job.stage = tr("Loading the reward model")
    return models.load_rewards(where, job.should_stop)


def load(job: Job, where: str, revision: str = "", dtype: str = "", remedy: str = RUN_AGAIN) -> Any:
    """Load the model; in any version or number type if none is named.

    Raises:
        ModelError: it can't be found, or has another version or number type now.
        LoadingStoppedError: the job was stopped meanwhile.
    """
    job.stage = LOADING
    model = models.load(where, job.should_stop, job.set_stage)
    from core.models.threads import leave_a_processor

    leave_a_processor()
    require_same(model, revision, dtype, remedy)
    return model
