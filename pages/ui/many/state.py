"""Session state of the page of many runs: stored examples, and the session's own runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import streamlit as st

from core.decoding.many.plan import RunBatch
from core.decoding.many.types import ManyRuns
from core.decoding.record.trace import Trace
from core.traces.many_file import read_many
from pages.ui import platform
from pages.ui.many.controls import mode_of
from pages.ui.resources import examples
from pages.ui.run.request import Request
from pages.ui.run.view import PageView
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import value

# In the address: the place of the shown run.
PICK = "pick"


@dataclass(eq=False)
class ManyView(PageView):
    """One session's view of many runs; its work is `many`.

    Args:
        made: runs that were made here or opened from a file, by mode.
        opened: modes whose runs are from a file.
        asked: request and batches of the last press on Run, by mode.
        values: the controls' values at that press, by mode and key.
        live: mode and traces of the runs under way.
        selected: place of the run whose text is shown, by mode.
        restored: the link that opened the page was handled.
        waits: the runs of that link wait for a press on Run.
        version: number of results, for the figures.
    """

    key: ClassVar[str] = "many-view"

    made: dict[str, ManyRuns] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    asked: dict[str, tuple[Request, tuple[RunBatch, ...]]] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    live: tuple[str, list[Trace]] | None = None
    selected: dict[str, int] = field(default_factory=dict)
    restored: bool = False
    waits: bool = False
    version: int = 0

    @classmethod
    def initial(cls) -> Self:
        """Return the view at the run that the link names."""
        made = cls()
        place = link.whole(st.query_params.get(platform.key(PICK), ""))
        if place is not None:
            made.selected[str(value("many_mode"))] = place
        return made

    def collect(self, name: str, _: Any) -> None:
        """Store the runs; of work that failed or was stopped, those that were ready."""
        if name != "many" or self.live is None:
            return
        (mode, made), self.live = self.live, None
        if traces := whole_runs(tuple(made)):
            self.made[mode] = ManyRuns(traces)
            self.opened.discard(mode)
            if self.selected.get(mode, 0) >= len(traces):
                self.selected[mode] = 0
            self.version += 1
        else:  # The runs before it are still shown.
            self.asked.pop(mode, None)

    def open(self, many: ManyRuns) -> None:
        """Show the runs of a file in the mode that they fit; work under way ends."""
        self.drop(*self.jobs)
        mode, self.live, self.failure = mode_of(many), None, ""
        self.waits = False
        self.made[mode], self.selected[mode] = many, 0
        self.opened.add(mode)
        self.asked.pop(mode, None)
        self.version += 1

    def select(self, place: int) -> None:
        """Show the text of another run."""
        self.selected[str(value("many_mode"))] = place


def whole_runs(traces: tuple[Trace, ...]) -> tuple[Trace, ...]:
    """Return the runs without those that a stop cut off; all of them if none is whole."""
    return tuple(trace for trace in traces if trace.finish_reason != "cancelled") or traces


def example(mode: str) -> ManyRuns | None:
    """Return the stored runs of a mode; None if the file is missing or damaged."""
    return examples.example(f"many-{mode}.jsonl", read_many)


def shown(view: ManyView) -> ManyRuns | None:
    """Return the runs under way of the chosen mode, else its last ones here, else the stored."""
    mode = str(value("many_mode"))
    if view.live is not None and view.live[0] == mode:
        traces = whole_runs(tuple(view.live[1]))
        if not traces:
            return None
        return view.memo("live", (view.version, len(traces)), lambda: ManyRuns(traces))
    return view.made.get(mode) or example(mode)


def selected(view: ManyView, many: ManyRuns) -> int:
    """Return the place of the run whose text is shown."""
    return min(view.selected.get(str(value("many_mode")), 0), many.count - 1)
