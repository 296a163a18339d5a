"""Session state of the Compare page: two sides, each with a run, and the step that both show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import streamlit as st

from core.decoding.comparison.measures import (
    ComparedDistribution,
    PairMeasures,
    recorded_measures,
)
from core.decoding.comparison.parting import compare
from core.decoding.comparison.types import Parting
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.grid import columns_for
from pages.ui import platform, registry
from pages.ui.platform import slot
from pages.ui.resources import examples
from pages.ui.run import address, named_run, shared
from pages.ui.run.files import save
from pages.ui.run.request import Request
from pages.ui.run.view import PageView, Source, View
from pages.ui.widgets import style
from pages.ui.widgets.controls import control, link

LEFT, RIGHT = "a_", "b_"
SLOTS = shared.slots((LEFT, RIGHT))
NAMES = {LEFT: "A", RIGHT: "B"}
MOST_MADE = 24
# Of the stored runs that the sides show first.
_EXAMPLES = {LEFT: "decode.json", RIGHT: "compare.json"}
# In the address.
_STEP = "step"
# The parts of the page that a chosen token reruns.
TEXTS, STEP, REST, WATCH = "pair-texts", "pair-step", "pair-rest", "pair-watch"


class FoundOriginal(NamedTuple):
    """A GGUF file by the picker's name, and the model that it was made from.

    Args:
        at_hand: False if the original has to be downloaded first.
        known_by: what names it, in a sentence.
    """

    name: str
    where: str
    at_hand: bool
    known_by: str


@dataclass(eq=False)
class SideView(View):
    """One side: a run of the session, of a file, or one made here.

    Args:
        read: the same tokens as the model reads them one by one, for a run whose steps emit
            several; None where the run records single steps, and before it was read.
        opened: id of the uploaded file that was opened last.
    """

    key: ClassVar[str] = "side"
    example: ClassVar[str] = "decode.json"
    measurements: ClassVar[dict[str, str]] = {"read": "read"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "read")

    read: Trace | None = None
    opened: str = ""

    @classmethod
    def current(cls) -> Self:
        """Return the side of the current slot; outside of one, the left side."""
        if slot.current().prefix:
            return super().current()
        with slot.use(SLOTS[0]):
            return super().current()

    @classmethod
    def load_example(cls) -> Trace | None:
        """Return the stored run of the current slot."""
        return examples.example(_EXAMPLES.get(slot.current().prefix, cls.example), Trace.load)

    def keep(self, trace: Trace, request: Request | None) -> None:
        """Keep a run in the list of runs that both sides made."""
        pair = PairView.current()
        pair.made = [*pair.made, (trace, request)][-MOST_MADE:]

    @property
    def stepwise(self) -> Trace | None:
        """The run with its single steps: as it was recorded, or as the model has read it."""
        return self.read or self.trace

    @property
    def steps(self) -> tuple[TokenStep, ...]:
        return self.stepwise.token_steps if self.stepwise else ()

    def step_at(self, at: int) -> TokenStep | None:
        """Return a step by its index; None behind the run's end."""
        return self.steps[at] if at < len(self.steps) else None


@dataclass(eq=False)
class PairView(PageView):
    """Both sides: the step that they show, and the work on both.

    Args:
        selected: index of the step that both sides show.
        first: first column of both heatmaps.
        made: the runs that both sides made, the newest last.
        shown: the two runs whose first difference was selected last.
        explained: the two runs that the model was asked about.
        linked: the step as the link which opened the page names it, until runs have shown it.
        original: the GGUF file of the last press, and the model that it was made from.
        found: that model was found since the page was drawn.
    """

    key: ClassVar[str] = "pair"

    selected: int = 0
    first: int = 0
    made: list[tuple[Trace, Request | None]] = field(default_factory=list)
    shown: tuple[Trace, ...] = ()
    explained: tuple[Trace, ...] = ()
    linked: str = ""
    original: FoundOriginal | None = None
    found: bool = False

    def collect(self, name: str, result: Any) -> None:
        """Store the model that a GGUF file was made from."""
        if name == "original" and result is not None:
            self.original, self.found = result, True

    @classmethod
    def current(cls) -> Self:
        """Return this session's view of the pair, from any slot."""
        with slot.use(slot.PAGE):
            return super().current()

    @classmethod
    def initial(cls) -> Self:
        """Return a view that selects the step that the address names."""
        return cls(linked=st.query_params.get(platform.key(_STEP), ""))

    def select(self, index: int) -> None:
        """Select a step on both sides."""
        columns = columns_for(style.figure_width())
        self.selected = max(0, index)
        self.first = self.selected // columns * columns
        for side in sides():
            side.selected = self.selected

    def follow(self, left: Trace, right: Trace) -> None:
        """Select the first difference of two runs that weren't shown together before."""
        if len(self.shown) == 2 and self.shown[0] is left and self.shown[1] is right:
            return
        self.shown = (left, right)
        step = link.whole(self.linked)
        if not _awaits_link():
            self.linked = ""
        at = self.parting(left, right).at
        self.select(step if step is not None else at or 0)

    def parting(self, left: Trace, right: Trace, read: tuple[Trace, ...] = ()) -> Parting:
        """Return the first difference, by what the traces hold.

        Args:
            read: both runs as single steps; by default as they were recorded.
        """
        runs = (left, right, *read)
        return self.memo(f"parting-{len(read)}", runs, lambda: compare(left, right, read=read))

    def recorded(
        self, left: Trace, right: Trace, distribution: ComparedDistribution
    ) -> PairMeasures:
        """Return the measures that the traces allow."""
        key = (left, right, distribution)
        return self.memo("recorded", key, lambda: recorded_measures(left, right, distribution))


def sides() -> list[SideView]:
    """Return both sides, the left one first."""
    views = []
    for place in SLOTS:
        with slot.use(place):
            views.append(SideView.current())
    return views


def _awaits_link() -> bool:
    """Return whether a run of the address is not shown yet: it is under way or waits for Run."""
    waiting = []
    for place, side in zip(SLOTS, sides(), strict=True):
        with slot.use(place):
            waiting.append(named_run.is_named() and side.source != "run")
    return any(waiting)


def write_step(pair: PairView, opens: int) -> None:
    """Let the address name the selected step, where it isn't the one that opens."""
    if not (pair.linked and _awaits_link()):
        address.write(_STEP, None if pair.selected == opens else str(pair.selected))


@dataclass(frozen=True)
class SessionRun:
    """A run that a side can show.

    Args:
        origin: where the session has it from, in words.
        request: what it was asked for, if it was made here.
    """

    origin: str
    trace: Trace
    request: Request | None = None
    source: Source = "run"


def open_pair(runs: Sequence[SessionRun]) -> None:
    """In a callback: turn to the page and look at two runs; one alone is the right side."""
    for place, run in zip(SLOTS[-len(runs) :], runs, strict=True):
        with slot.use(place):
            put(SideView.current(), run)
    save.go_to(registry.COMPARE.path)


def put(side: SideView, run: SessionRun) -> None:
    """Show a run on the side of the current slot, with its controls."""
    side.drop("decode")
    if run.source in ("file", "request", "many"):
        side.open(run.trace, run.source)
    else:
        side.show(run.trace, run.source)
    if run.source == "example":
        address.write("run", None)
    side.request = side.shown_request = run.request
    registry.COMPARE.load_controls(run.trace)
    if run.request is not None:
        names = ("model", "chat", "system")
        control.load({name: getattr(run.request, name) for name in names})


def redraw() -> None:
    """End a callback that selects another step."""
    with slot.use(slot.PAGE):
        platform.rerun(TEXTS, STEP, REST, WATCH)
