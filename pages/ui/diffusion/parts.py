"""The figures of the page of masked diffusion."""

from __future__ import annotations

from core import figures
from core.decoding.counting import nth
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.record.trace import Trace
from core.figures.base.grid import wide_columns
from core.figures.base.paper import Paper
from core.figures.base.window import even_span
from core.language import N_
from pages.ui.diffusion.state import DiffusionView, stored_budget
from pages.ui.run.parts import FigureWindow, PagePart, windows_of


def _windows(trace: Trace, paper: Paper) -> list[FigureWindow]:
    count = len(canvas_steps(trace))
    across = even_span(count, wide_columns(paper.window))
    return windows_of(range(0, max(count, 1), across), count)


CANVAS = PagePart(
    "canvas",
    figures.canvas_fill,
    lambda view, trace: {"trace": trace, "selected": view.position},
    windows=_windows,
)
ORDER = PagePart(
    "fill-order",
    figures.fill_order,
    lambda view, trace: {"trace": trace, "selected": view.position},
)
POSITION = PagePart(
    "position",
    figures.canvas_position,
    lambda view, trace: {"trace": trace, "position": view.position},
    where=lambda view: str(nth(view.position or 0)),
)
CHOICE = PagePart(
    "choice",
    figures.fill_choice,
    lambda view, trace: {"trace": trace, "position": view.position},
    where=lambda view: str(nth(view.position or 0)),
)
TOGETHER = PagePart(
    "filled-together",
    figures.filled_together,
    lambda view, trace: (
        None if view.together is None else {"tokens": view.together, "trace": trace}
    ),
    N_("compare the tokens of each step first"),
)


def _budget(_view: DiffusionView, _trace: Trace) -> dict[str, object] | None:
    budget = stored_budget()
    return {"budget": budget} if budget else None


BUDGET = PagePart("diffusion-budget", figures.diffusion_budget, _budget)
PARTS = (CANVAS, ORDER, CHOICE, POSITION, TOGETHER, BUDGET)
