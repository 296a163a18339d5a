"""Background jobs of one page in one session, by name and cache key; the latest request wins."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from core.decoding.errors import DecodingError
from core.language import tr
from pages.ui import platform
from pages.ui.run.jobs import Job, start
from pages.ui.widgets.controls.control import in_words

# Work that ends within this time needs no second run of the page.
PATIENCE_SECONDS = 0.25
# Delay of deferred work after the page was drawn, as it would slow the browser down.
REST_SECONDS = 0.15


@dataclass(eq=False)
class BackgroundWork:
    """The jobs of a page, at most one per name; a new job stops the one that it replaces.

    A press starts a job with `begin`, and `collect_results` stores its result. Drawing the page
    requests keyed work with `soon` or `later`, which start it only if the cached result has
    another key.

    Args:
        jobs: the last job of each name, until its result is collected.
        failures: error of the last job that a press started, for `tr`, by name; empty without an
            error.
        deferred: keyed work that starts after the page is drawn, by name.
        pending_key: the key of each keyed job, by name.
        cached: the key and the result of the last keyed job that finished, by name.
        requested: names of keyed work that the page has requested while being drawn.
        reported: ended jobs that the page was drawn from.
    """

    jobs: dict[str, Job] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    deferred: dict[str, Callable[[Job], Any]] = field(default_factory=dict)
    pending_key: dict[str, Hashable] = field(default_factory=dict)
    cached: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)
    reported: dict[str, Job] = field(default_factory=dict)

    def active(self, name: str) -> Job | None:
        """Return the running job of this name, or None."""
        job = self.jobs.get(name)
        return job if job is not None and job.active else None

    def begin(self, name: str, job: Job) -> None:
        """Store a job that was started, and forget the error of the last one."""
        self.failures[name] = ""
        self.jobs[name] = job

    def attempt(self, name: str, start: Callable[[], Job]) -> bool:
        """Begin a job unless there is one of this name; an error is stored as its failure."""
        if name in self.jobs:
            return False
        try:
            self.begin(name, start())
        except DecodingError as error:
            self.failures[name] = in_words(error)
            return False
        return True

    def drop(self, *names: str) -> None:
        """Stop jobs, and forget them and their results."""
        for name in names:
            self.failures.pop(name, None)
            self.cached.pop(name, None)
            if job := self.jobs.pop(name, None):
                job.stop()

    @platform.critical()
    def collect_results(self) -> None:
        """Collect the results of ended jobs before the page is drawn."""
        self.requested.clear()
        # The run first: showing it drops the measurements of the run before.
        for name in sorted(self.jobs, key=lambda name: name != "decode"):
            job = self.jobs.get(name)
            if job is not None and not job.active and name not in self.pending_key:
                del self.jobs[name]
                self.failures[name] = job.error
                self.collect(name, job.result)

    def collect(self, name: str, result: Any) -> None:
        """Store the result of a job that a press started; None if it failed or stopped."""

    def later(self, name: str, key: Hashable, work: Callable[[Job], Any]) -> tuple[Any, bool]:
        """Return the result for this key and True, or the last result of another key and False.

        A missing result is computed after `start_deferred`, so that the work doesn't compete with
        the drawing of the page.
        """
        self.requested.add(name)
        self._cache_result(name)
        cached = self.cached.get(name)
        if cached is not None and cached[0] == key:
            return cached[1], True
        if self.pending_key.get(name) != key or name not in self.jobs:
            self.pending_key[name] = key
            self.deferred[name] = work
        return (cached[1] if cached else None), False

    def soon(self, name: str, key: Hashable, work: Callable[[Job], Any]) -> tuple[Any, bool]:
        """Return as `later` does, but start missing work at once and wait a moment for it."""
        result, ready = self.later(name, key, work)
        if not ready:
            if name in self.deferred:
                self._start(name)
            self.jobs[name].done.wait(PATIENCE_SECONDS)
            return self.later(name, key, work)
        return result, ready

    def start_deferred(self) -> None:
        """Start the deferred work after a pause of the controls and the browser."""
        for name in tuple(self.deferred):
            self._start(name, REST_SECONDS)

    def _start(self, name: str, delay: float = 0.0) -> None:
        work = self.deferred.pop(name)
        if before := self.jobs.get(name):
            before.stop()
        self.jobs[name] = start(lambda job: None if job.stopping.wait(delay) else work(job))

    def _cache_result(self, name: str) -> None:
        """Cache the result of a job that has ended by itself; an error stays with its job."""
        job = self.jobs.get(name)
        if job is None or job.active or name in self.deferred:
            return
        if job.error:
            self.reported[name] = job
            return
        del self.jobs[name]
        if not job.stopping.is_set():
            self.cached[name] = (self.pending_key[name], job.result)

    def forget_unrequested(self) -> None:
        """Cache and mark as reported all ended keyed work that the page just drawn doesn't use."""
        for name in self.pending_key.keys() & self.jobs.keys() - self.requested:
            job = self.jobs[name]
            if not job.active:
                self._cache_result(name)
                self.reported[name] = job

    def error(self, name: str) -> str:
        """Return the error of the last keyed job of this name, and mark it as reported."""
        job = self.jobs.get(name)
        if job is None or job.active or not job.error:
            return ""
        self.reported[name] = job
        return tr(job.error)

    def try_again(self) -> None:
        """Forget failed jobs, so that they start again."""
        for name in [name for name, job in self.jobs.items() if job.error]:
            del self.jobs[name]

    @property
    def under_way(self) -> bool:
        """True while work goes on, or if the page wasn't drawn since it ended."""
        return any(self.reported.get(name) is not job for name, job in self.jobs.items())

    @property
    def news(self) -> bool:
        """True if work has ended and the page wasn't drawn from it yet."""
        ended = [(name, job) for name, job in self.jobs.items() if not job.active]
        return any(self.reported.get(name) is not job for name, job in ended)
