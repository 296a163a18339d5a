"""Session state of Home: the stored example, and the session's own runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.decoding.many.types import ManyRuns
from core.decoding.record.trace import Trace
from core.traces.many_file import read_runs
from pages.ui import registry
from pages.ui.resources import examples
from pages.ui.run.display import history
from pages.ui.run.files import save
from pages.ui.run.request import Request
from pages.ui.run.view import PageView, Source

RUNS = "home"
EXAMPLE = "home.jsonl"


@dataclass(frozen=True)
class HomeRuns:
    """Runs of one prompt by several methods.

    Args:
        requests: the request of each run; None for a run that was not made here.
        lacking: sentences why the model can't run a method.
    """

    many: ManyRuns
    requests: tuple[Request | None, ...]
    source: Source
    lacking: tuple[str, ...] = ()


@dataclass(eq=False)
class HomeView(PageView):
    """One session's view of Home; its job is `RUNS`.

    Args:
        runs: the last runs that were made here or opened from a file.
        asked: the requests of the last press on Run.
        values: the controls' values at that press, by key.
        live: the runs under way that have ended, with their requests.
        restored: the link that opened the page was handled.
        waits: the runs of that link wait for a press on Run.
        version: number of results, for the figures.
    """

    key: ClassVar[str] = "home-view"

    runs: HomeRuns | None = None
    asked: tuple[Request, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    live: list[tuple[Trace, Request]] | None = None
    restored: bool = False
    waits: bool = False
    version: int = 0

    def collect(self, name: str, result: Any) -> None:
        """Store the runs; of work that failed or was stopped, those that were ready."""
        if name != RUNS or self.live is None:
            return
        made, self.live = self.live, None
        whole = [run for run in made if run[0].finish_reason != "cancelled"]
        if not whole:  # The runs before it are still shown.
            self.asked = ()
            return
        self.runs = _of(whole, tuple(dict.fromkeys(filter(None, result or ()))))
        self.version += 1

    def open(self, many: ManyRuns) -> None:
        """Show the runs of a file; work under way ends."""
        self.drop(RUNS)
        self.live, self.asked, self.failure, self.waits = None, (), "", False
        self.runs = HomeRuns(many, (None,) * many.count, "file")
        self.version += 1

    @property
    def shown(self) -> HomeRuns | None:
        """The runs under way, else the last ones here, else the stored ones; None if no run under
        way has ended."""
        if self.live is not None:
            made = list(self.live)
            return self.memo("live", (self.version, len(made)), lambda: _of(made)) if made else None
        return self.runs or example()


def _of(made: list[tuple[Trace, Request]], lacking: tuple[str, ...] = ()) -> HomeRuns:
    traces, requests = zip(*made, strict=True)
    return HomeRuns(ManyRuns(traces), requests, "run", lacking)


def example() -> HomeRuns | None:
    """Return the stored runs; None if their file is missing or damaged."""
    many = examples.example(EXAMPLE, read_runs)
    return HomeRuns(many, (None,) * many.count, "example") if many else None


def open_run(runs: HomeRuns, place: int, step: int | None = None) -> None:
    """In a callback: turn to the page of a run's method, which shows the run with its controls.

    Args:
        step: index of the step to select; None for the first fork of the run.
    """
    trace, request = runs.many.traces[place], runs.requests[place]
    page = registry.page_of(trace.config.method)
    if runs.source == "file":
        save.turn_to(page, trace)
        return
    view = page.view()
    view.drop("decode")
    view.restored = True
    history.show_again(view, trace, request, runs.source, page)
    if request is not None:
        view.keep(trace, request)
    if step is None:
        step = next((fork.at for fork in runs.many.forks if place in fork.runs), None)
    if step is not None and view.steps:
        view.select(step)
    save.go_to(page.path)
