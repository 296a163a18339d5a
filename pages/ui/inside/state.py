"""Session state of the page Inside: a run and its selected step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import streamlit as st

from core.decoding.record.trace import Trace
from core.export.part import Part
from core.language import N_
from pages.ui import platform, registry
from pages.ui.decode.state import STEP, DecodeView, follow_link
from pages.ui.inside import controls
from pages.ui.run import named_run
from pages.ui.run.files import save
from pages.ui.run.request import Request
from pages.ui.run.view import Source, View
from pages.ui.widgets.controls import control

_OTHERWISE = N_("another one is shown")


@dataclass(eq=False)
class InsideView(View):
    """One session's view; its keyed work is `record`, `forward`, `lens` and `attention`.

    Args:
        run_seen: the run and the step on Decode, as this page last saw them.
        linked: the step as the link which opened the page names it, until a run has shown it.
        opened_source: the row of the picture whose source is shown; empty for none.
        places: file and line of the functions in the picture, by their rows.
        lens_first: the first position that the lens draws; None for the last ones.
        looked_first: the first position that the attention draws; None for the last ones.
        figures: of the tabs that were open at this step, by their names.
    """

    key: ClassVar[str] = "inside"
    example: ClassVar[str] = DecodeView.example
    of_trace: ClassVar[tuple[str, ...]] = ("check", "record", "forward", "lens", "attention")

    run_seen: tuple[int, int] | None = None
    linked: str = ""
    opened_source: str = ""
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    lens_first: int | None = None
    looked_first: int | None = None
    figures: dict[str, Part] = field(default_factory=dict)

    @classmethod
    def initial(cls) -> Self:
        """The run on Decode at its step, or at the step that the address names."""
        view = cls()
        view.take(DecodeView.elsewhere())
        view.linked = st.query_params.get(platform.key(STEP), "")
        if not named_run.is_named():
            follow_link(view, _OTHERWISE)
        return view

    def take(self, decode: DecodeView) -> None:
        """Look at what Decode shows."""
        self.run_seen = (decode.number, decode.selected)
        if decode.trace is not None and shows(decode.trace):
            self.show(decode.trace, decode.source)
            self.shown_request = decode.shown_request
            self.select(decode.selected)
            # A link's own words come before those of the example.
            linked = control.rows_in_address() if decode.source == "example" else ()
            controls.follow(decode.trace, but=linked)

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run."""
        super().show(trace, source)
        self.opened_source, self.lens_first, self.figures = "", None, {}
        if source == "run":
            follow_link(self, _OTHERWISE)
        self.linked = ""

    def select(self, index: int) -> None:
        """Select a step; its window of positions ends with it."""
        super().select(index)
        self.lens_first = self.looked_first = None
        self.figures = {}


def shows(trace: Trace) -> bool:
    """Return whether the page can show a run: it must emit a token a step."""
    return bool(trace.token_steps)


def follow(view: InsideView, decode: DecodeView) -> None:
    """Take over another run or step of Decode, where it changed since the page last looked."""
    seen = (decode.number, decode.selected)
    if seen == view.run_seen:
        return
    if view.run_seen is not None and view.run_seen[0] == seen[0] and view.trace is decode.trace:
        view.run_seen = seen
        view.select(decode.selected)
    else:
        view.take(decode)


def open_run(
    trace: Trace, index: int = 0, *, source: Source = "run", request: Request | None = None
) -> None:
    """In a callback: turn to the page and look at a run's step there.

    Args:
        index: of the step.
        request: what the run was asked for, so that its chat template is recorded too.
    """
    view, decode = InsideView.current(), DecodeView.current()
    view.run_seen = (decode.number, decode.selected)
    view.linked = ""
    view.show(trace, source)
    view.shown_request = request
    view.select(index)
    controls.follow(trace)
    save.go_to(registry.INSIDE.path)
