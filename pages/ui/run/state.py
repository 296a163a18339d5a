"""What one browser session looks at: a trace, the selected step, and the work under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from core.decoding.trace import TokenStep, Trace
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.shell import examples, models

EXAMPLE = Path(__file__).parents[3] / "assets" / "traces" / "decode.json"
PAGE_COLUMNS = 40

Source = Literal["example", "run", "file", "none"]


@dataclass(eq=False)
class View:
    """One session's view of one trace.

    Args:
        number: counts the traces shown, so that what belongs to an earlier one is recognised.
        first, prompt_first: where the windows of the heatmap and of the prompt begin.
        jobs: `decode`, `check`, `compare` and `logits`, each with the last work of its kind.
        logits: of one step only: (number, index), the model, `[vocab]`.
        logits_wanted: what the last reading of logits was asked for.
        compared: the same run with the KV cache the other way, once it was measured.
        seen: the state of each work that the page is drawn from.
        request: what the run under way was asked for.
        painted: a first run has drawn the text, so the charts may follow.
        restored: the link that opened the page was looked at.
    """

    trace: Trace | None = None
    source: Source = "none"
    number: int = 0
    selected: int = 0
    first: int = 0
    prompt_first: int = 0
    jobs: dict[str, Job] = field(default_factory=dict)
    failure: str = ""
    logits: tuple[tuple[int, int], Any, Any] | None = None
    logits_wanted: tuple[int, int] | None = None
    compared: Trace | None = None
    seen: dict[str, tuple[object, ...]] = field(default_factory=dict)
    request: Request | None = None
    restored: bool = False
    painted: bool = False

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another trace."""
        self.trace, self.source = trace, source
        self.number += 1
        self.selected = self.first = self.prompt_first = 0
        self.failure = ""
        self.logits = self.logits_wanted = self.compared = None
        for name in ("check", "compare", "logits"):
            if job := self.jobs.pop(name, None):
                job.stop()

    def open(self, trace: Trace) -> None:
        """Look at a file's trace; what it says about its own proof is not believed but checked."""
        self.show(trace.with_checks(()), "file")
        self.jobs["check"] = jobs.check_trace(trace, with_model=False)

    @property
    def steps(self) -> tuple[TokenStep, ...]:
        return self.trace.token_steps if self.trace else ()

    @property
    def step(self) -> TokenStep | None:
        """The selected step."""
        steps = self.steps
        return steps[min(self.selected, len(steps) - 1)] if steps else None

    @property
    def untouched(self) -> bool:
        """Whether this is the example still, at the step that it opened with."""
        return (
            self.source == "example"
            and self.trace is not None
            and self.selected == _most_open_step(self.trace)
        )

    def select(self, index: int) -> None:
        """Select a step everywhere; out of range means the nearest."""
        self.selected = max(0, min(int(index), len(self.steps) - 1))
        self.first = self.selected // PAGE_COLUMNS * PAGE_COLUMNS

    def turn_page(self, window: str, first: int) -> None:
        """Move the window `first` or `prompt_first`; the selection stays."""
        setattr(self, window, max(0, first))

    def may_load(self, chosen: str) -> bool:
        """Whether the trace's model may be loaded: a file must not make the app fetch a model."""
        if self.trace is None or self.source != "file":
            return self.trace is not None
        return self.trace.model_id == chosen or models.is_embedded(self.trace.model_id)

    def progress(self) -> dict[str, tuple[object, ...]]:
        """Where each work stands now."""
        return {name: (job.stage, job.tokens, job.active) for name, job in self.jobs.items()}

    def active(self, name: str) -> Job | None:
        """The work of this kind, while it goes on."""
        job = self.jobs.get(name)
        return job if job is not None and job.active else None


def view() -> View:
    """This session's view, with the stored example at first."""
    if "view" not in st.session_state:
        st.session_state["view"] = first_view()
    shown: View = st.session_state["view"]
    return shown


def first_view() -> View:
    """What a new session looks at: the example, at the step with most to see."""
    found = View()
    example = load_example()
    if example is not None:
        found.show(example, "example")
        found.select(_most_open_step(example))
    return found


def _most_open_step(trace: Trace) -> int:
    """Where the model was least sure: the step with most to look at."""
    steps = trace.token_steps
    return max(range(len(steps)), key=lambda at: steps[at].entropy, default=0)


def load_example() -> Trace | None:
    """The stored example; None where the file is missing or damaged."""
    return examples.example(EXAMPLE, Trace.load)
