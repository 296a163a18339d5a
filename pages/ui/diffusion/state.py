"""Session state of the diffusion page: a run, the selected position, what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import streamlit as st

from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.diffusion.types import CanvasStep, DiffusionBudget, TogetherToken
from core.decoding.record.steps import Step
from core.decoding.record.trace import Trace
from core.evaluation.diffusion import load_budget
from core.figures.base.grid import wide_columns
from core.language import tr
from pages.ui import platform
from pages.ui.resources import examples
from pages.ui.run import address, named_run
from pages.ui.run.view import Source, View
from pages.ui.widgets import style
from pages.ui.widgets.controls import link

# In the address; numbers in links begin at 0.
POSITION = "position"

# Width of the canvas beside its notes in a window of 1280 px.
_BESIDE_NOTES = 546


@dataclass(eq=False)
class DiffusionView(View):
    """One session's view of one diffusion run; `first` is the first step of the canvas.

    Args:
        position: the selected position.
        together: tokens that were filled in one step, with both probabilities.
        linked: the position as the link that opened the page names it, until a run has shown it.
    """

    key: ClassVar[str] = "diffusion"
    example: ClassVar[str] = "diffusion.json"
    measurements: ClassVar[dict[str, str]] = {"together": "together"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "together")

    position: int | None = None
    together: tuple[TogetherToken, ...] | None = None
    linked: str = ""

    @classmethod
    def initial(cls) -> Self:
        """Return a view of the example, at the position that the address names."""
        view = super().initial()
        view.linked = st.query_params.get(platform.key(POSITION), "")
        if not named_run.is_named():
            view.follow_link()
        return view

    def follow_link(self) -> None:
        """Select the position that the link names, and report one that the run lacks."""
        position = link.whole(self.linked)
        if position is not None and position in positions_of(self.trace):
            self.look_at(position)
        elif self.linked:
            link.report(
                tr(
                    "{word} in the link is no position of this run (numbers in links begin at 0): "
                    "the one that came before the most on its left is selected.",
                    word=link.quoted(self.linked),
                )
            )
        self.linked = ""

    def write_position(self) -> None:
        """Let the address name the selected position unless it is the one that is shown first."""
        if self.trace is not None and not self.linked:
            first = self.position == telling_position(self.trace)
            address.write(POSITION, None if first else str(self.position))

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run, at the position that came before the most on its left."""
        super().show(trace, source)
        self.position = telling_position(trace)
        if source == "run":
            self.follow_link()
        self.linked = ""

    def look_at(self, position: int) -> None:
        """Select a position, and bring the step that filled it into the window."""
        self.position = position
        if self.trace is None:
            return
        at = next((s.index for s in canvas_steps(self.trace)
                   for one in s.filled if one.index == position), 0)  # fmt: skip
        columns = shown_steps()
        if not self.first <= at < self.first + columns:
            self.first = at // columns * columns

    def partial_text(self, steps: Sequence[Step]) -> tuple[tuple[int, ...], str]:
        """Return the token ids and the text before the first mask."""
        canvases = [step for step in steps if isinstance(step, CanvasStep)]
        ids = tuple(token for step in canvases for token in step.emitted)
        return ids, "".join(step.text for step in canvases)


def positions_of(trace: Trace | None) -> set[int]:
    """Return the positions that any step of a run had open."""
    steps = canvas_steps(trace) if trace else ()
    return {opened.position for step in steps for opened in step.open}


def telling_position(trace: Trace) -> int | None:
    """Return the position that came before the most open ones on its left; None without a step.

    Where every step kept the leftmost positions, it is the one that stayed open longest.
    """
    passed, times = Counter[int](), Counter[int]()
    for step in canvas_steps(trace):
        times.update(opened.position for opened in step.open)
        left = 0
        for opened in step.open:
            if opened.filled:
                passed[opened.position] = left
            left += not opened.filled
    return max(times, key=lambda at: (passed[at], times[at], -at), default=None)


def shown_steps() -> int:
    """Return the number of steps that the canvas shows at a time."""
    return wide_columns(canvas_width())


def canvas_width() -> int:
    """Return the width of the canvas, px."""
    return min(style.figure_width(), _BESIDE_NOTES)


def stored_budget() -> DiffusionBudget | None:
    """Return the stored measurement of the embedded model; None if it can't be read."""
    return examples.example("diffusion-budget.json", load_budget)
