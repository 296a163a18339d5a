"""The figures of the page of beam search."""

from __future__ import annotations

from typing import Any

from core import figures
from core.decoding.beam.compare import rivals
from core.decoding.beam.replay import guess_parents
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.paper import Paper
from core.figures.beam.window import windows
from core.language import N_
from pages.ui.beam import controls
from pages.ui.beam.state import BeamView
from pages.ui.resources import examples
from pages.ui.run.figures import constraint
from pages.ui.run.parts import FigureWindow, PagePart
from pages.ui.widgets.controls.control import value

_SPAN = 20


def _tree(view: BeamView, trace: Trace) -> dict[str, Any]:
    """The tree as the page's switches draw it."""
    return {
        "trace": trace,
        "guesses": guess_parents(trace) if value("guesses") else None,
        "pruned": controls.view_of_tree()[1],
        "selected": view.node,
        **controls.part_of_tree(),
    }


def _by_hand() -> dict[str, Any] | None:
    """The stored search over three words; None if its file can't be read."""
    stored = examples.example("three-words.json", Trace.load)
    return None if stored is None else {"trace": stored}


def _windows(trace: Trace, _: Paper) -> list[FigureWindow]:
    spans = windows(trace.beam_steps, _SPAN, pruned=controls.view_of_tree()[1])
    return [
        FigureWindow(first, last, {"first": first, "span": last - first})
        for first, last in list(spans) or [(0, 1)]
    ]


def _step(view: BeamView, trace: Trace) -> dict[str, Any] | None:
    if view.node is None:
        return None
    step, place = view.node
    return {"trace": trace, "index": step, "selected": place}


TREE = PagePart("beam-tree", figures.beam_tree, _tree, windows=_windows, file="tree")
STEP = PagePart(
    "beam-step", figures.beam_step, _step, where=lambda view: str(nth(view.node[0])), file="step"
)
RIVALS = PagePart(
    "rivals",
    figures.beam_rivals,
    lambda view, trace: (
        {"rivals": rivals(trace, view.ran[0], view.ran[1:]), "trace": trace} if view.ran else None
    ),
    N_("run the rivals under Compare first"),
)
BY_HAND = PagePart(
    "by-hand",
    figures.beam_by_hand,
    lambda _view, _trace: _by_hand(),
)
CONSTRAINT = constraint.part_of(
    lambda view: {"node": view.node, "selected": view.node and view.node[0]}
)
PARTS = (TREE, STEP, CONSTRAINT, RIVALS, BY_HAND)
