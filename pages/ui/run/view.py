"""State of a page in one browser session: a trace, the selected step, the work under way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar

from core import language
from core.decoding.counting import sentences
from core.decoding.methods import method_of
from core.decoding.record.notes import MADE_ELSEWHERE, RECOMPUTED
from core.decoding.record.steps import NO_RECORD, Step, TokenStep
from core.decoding.record.trace import Timings, Trace
from core.decoding.speculative.types import DraftRecord, DraftRound
from core.figures.base.grid import columns_for
from core.figures.base.records import texts_in
from core.language import Message
from pages.ui import platform
from pages.ui.resources import examples, models
from pages.ui.run import address, jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.run.work import BackgroundWork
from pages.ui.widgets import style

MOST_RUNS = 12
# The job that runs without the constraint.
FREE = "free"

T = TypeVar("T")
Source = Literal["example", "run", "request", "many", "file", "none"]


@dataclass(eq=False)
class PageView(BackgroundWork):
    """State of one page in a session.

    Args:
        failure: error message, for `tr`, of a run or of a file that couldn't be opened.
        painted: the first figure is sent or drawn, so the others may follow.
        memory: cache of `memo`: the newest key and result, by name.
    """

    # Its key in the session's state.
    key: ClassVar[str]

    failure: str = ""
    painted: bool = False
    memory: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)

    def memo(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, cached by name until the key changes.

        Other threads call it too: a result and its key are stored in one assignment.
        """
        key = (key, language.current())
        known = self.memory.get(name)
        if known is None or known[0] != key:
            known = self.memory[name] = (key, make())
        result: T = known[1]
        return result

    def turn_page(self, window: str, first: int) -> None:
        """Move the window whose first column is in this field; the selection stays."""
        setattr(self, window, max(0, first))

    def clear(self) -> None:
        """Show nothing until something is run or chosen here; a step of a lesson begins so."""

    @classmethod
    def current(cls) -> Self:
        """Return this session's view of the page."""
        return platform.keep(platform.key(cls.key), cls.initial)

    @classmethod
    def initial(cls) -> Self:
        """Return the state of a new session."""
        return cls()


@dataclass(eq=False)
class View(PageView):
    """One session's view of one trace.

    Args:
        number: counter of the shown traces, which identifies data of an earlier trace.
        selected: index of the selected step, on a page that shows single steps.
        first: first column of the main figure's window.
        request: the request of the run under way, else of the last run made or shown.
        shown_request: the request of the shown run, if the run was made here.
        restored: the link that opened the page was handled.
        runs: this session's runs on the page with their requests, the newest last.
        example_before: the example that was shown before the first run.
        pinned: the pinned tokens as they are written, once the page has drawn them.
        free: the same run without its constraint, once it was made.
    """

    # The file of the stored example.
    example: ClassVar[str]
    # The field that each measurement's result fills, by the name of its job.
    measurements: ClassVar[dict[str, str]] = {}
    # The trace is a text that was read.
    reads: ClassVar[bool] = False
    # Jobs that belong to the shown trace.
    of_trace: ClassVar[tuple[str, ...]] = ("check",)

    trace: Trace | None = None
    source: Source = "none"
    number: int = 0
    selected: int = 0
    first: int = 0
    request: Request | None = None
    shown_request: Request | None = None
    restored: bool = False
    runs: list[tuple[Trace, Request | None]] = field(default_factory=list)
    example_before: Trace | None = None
    pinned: tuple[str, ...] = ()
    free: Trace | None = None

    @classmethod
    def initial(cls) -> Self:
        """Return a view of the stored example, or an empty one if that can't be read."""
        view, example = cls(), cls.load_example()
        if example is not None:
            view.show(example, "example")
        return view

    @classmethod
    def load_example(cls) -> Trace | None:
        """Return the stored example; None if the file is missing or damaged."""
        return examples.example(cls.example, Trace.load)

    def show(self, trace: Trace, source: Source) -> None:
        """Show another trace."""
        self.trace, self.source = trace, source
        self.shown_request = self.request if source == "run" else None
        self.number += 1
        self.selected = self.first = 0
        self.failure = ""
        self.drop(*self.of_trace, FREE)
        self.free = None
        for name in self.measurements.keys() & self.of_trace:
            setattr(self, self.measurements[name], None)

    def clear(self) -> None:
        self.drop(*self.jobs)
        self.trace, self.source = None, "none"
        self.request = self.shown_request = None
        self.failure = ""
        self.restored = True
        address.write("run", None)  # The address asks for no run any more.
        self.number += 1

    def open(self, trace: Trace, source: Source = "file") -> None:
        """Show a trace from elsewhere; its checks are dropped and made again.

        Notes tell what is unknown of a run that another program made.
        """
        self.show(trace.with_checks(()), source)
        self.failure = _sentences(trace, lambda key: key in MADE_ELSEWHERE)
        self.begin("check", jobs.check_trace(trace, with_model=False))

    def collect(self, name: str, result: Any) -> None:
        """Store the result of a job that a press started; None if it failed or stopped."""
        if name == "decode":
            self.failure = self.failures[name]
        if result is None:
            return
        if name == "decode":
            if self.source == "example":
                self.example_before = self.trace
            self.show(result, "run")
            self.failure = _run_notes(result)
            self.keep(result, self.request)
        elif name == "check":
            self.trace = self.trace and self.trace.with_checks(result)
        elif name == FREE:
            self.free = result
        elif name in self.measurements:
            setattr(self, self.measurements[name], result)

    def keep(self, trace: Trace, request: Request | None) -> None:
        """Add a run to the menu of earlier runs."""
        self.runs = [*self.runs, (trace, request)][-MOST_RUNS:]

    def earlier(self, trace: Trace) -> tuple[Trace, Request | None] | None:
        """Return the run that was made here before this one; None for the first."""
        before = [(self.example_before, None)] if self.example_before is not None else []
        runs = [*before, *self.runs]
        at = next((at for at, run in enumerate(runs) if run[0].steps is trace.steps), 0)
        return runs[at - 1] if at else None

    def source_of(self, trace: Trace) -> Source:
        """Return the source of a run from the menu of earlier runs."""
        return "example" if trace is self.example_before else "run"

    @property
    def steps(self) -> tuple[TokenStep, ...]:
        return self.trace.token_steps if self.trace else ()

    @property
    def step(self) -> TokenStep | None:
        """The selected step."""
        steps = self.steps
        return steps[min(self.selected, len(steps) - 1)] if steps else None

    def select(self, index: int) -> None:
        """Select a step, or the nearest one if out of range, and move the window to it."""
        self.selected = max(0, min(int(index), len(self.steps) - 1))
        columns = columns_for(style.figure_width())
        self.first = self.selected // columns * columns

    def may_load(self, chosen: str) -> bool:
        """Return whether the trace's model may be loaded: a file must not fetch a model."""
        if self.trace is None or self.source != "file":
            return self.trace is not None
        return self.trace.model_id == chosen or models.is_embedded(self.trace.model_id)

    def result(self, name: str) -> Any:
        """Return the last result of keyed work on the shown trace; None without any."""
        cached = self.cached.get(name)
        if cached is None or not isinstance(cached[0], tuple) or cached[0][0] != self.number:
            return None
        return cached[1]

    def text_of(self, token_id: int) -> str:
        """Return the text of a token that the shown run names; else empty."""
        return texts_in(self.trace)(token_id) if self.trace else ""

    def partial_trace(self, job: Job) -> Trace | None:
        """Return the trace so far of an unfinished run; None without a request."""
        if self.request is None:
            return None
        steps = tuple(job.steps)
        token_ids, text = self.partial_text(steps)
        return Trace(
            model_id=self.request.model,
            prompt=self.request.prompt,
            prompt_ids=(),
            config=self.request.config,
            steps=steps,
            token_ids=token_ids,
            text=text,
            finish_reason="cancelled",
            timings=Timings(0.0, 0.0, job.seconds),
            method_record=DraftRecord(self.request.draft) if self.request.draft else NO_RECORD,
        )

    def partial_text(self, steps: Sequence[Step]) -> tuple[tuple[int, ...], str]:
        """Return the token ids and the text of those steps whose tokens are final."""
        emitting = [step for step in steps if isinstance(step, TokenStep | DraftRound)]
        ids = tuple(token for step in emitting for token in step.token_ids)
        return ids, "".join(step.text for step in emitting)


def select_step(view: View, redraw: Callable[[], None], custom: list[object]) -> None:
    """Select the step that a click on a figure names, and redraw."""
    # The first tokens of a text that was read have no step of their own.
    if custom and isinstance(custom[0], int | float) and custom[0] >= 0:
        view.select(int(custom[0]))
        redraw()


def _sentences(trace: Trace, shown: Callable[[str], bool]) -> Message:
    """Return the notes whose keys are shown as one text, for `tr`."""
    return sentences(*(words for key, words in trace.notes if shown(key)))


def _run_notes(trace: Trace) -> Message:
    """Return notes on this run alone, such as a lost server or a doubled start token."""
    known = (RECOMPUTED, *(note.key for note in method_of(trace.config).notes(trace.config)))
    return _sentences(trace, lambda key: key not in known)
