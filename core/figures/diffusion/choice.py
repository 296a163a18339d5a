"""Scores of the open positions at one step: why a position was filled then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...decoding.counting import counted, nth
from ...decoding.diffusion.canvas import canvas_steps
from ...decoding.diffusion.config import Diffusion
from ...decoding.diffusion.types import CanvasStep, OpenPosition
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    percent,
    percent_ticks,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_frame, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet, no_selection
from ..base.theme import LIGHT, Theme
from .canvas import certainty, filled_positions

# Title of the axis for each order; the highest scores come first.
_SCORES = {
    "confidence": N_("probability"),
    "margin": N_("gap of the two likeliest"),
    "entropy": N_("−entropy, nats"),
    "random": N_("random number"),
    "left_to_right": N_("−position"),
}


_REASON = N_("Position {position} ({token}) was number {number} of {count}: {score}.")
_REASON_WITH_GAPS = N_(
    "Position {position} ({token}) was number {number} of {count}: {score}; on its left {open} "
    "stayed open."
)


def choosing_step(trace: Trace, position: int | None) -> CanvasStep | None:
    """Return the step that filled a position last, else the last one at which it was open."""
    steps = canvas_steps(trace)
    filled = [one.step for one in filled_positions(trace) if one.position == position]
    opened = [step.index for step in steps if any(o.position == position for o in step.open)]
    at = next(iter(filled[-1:] or opened[-1:]), None)
    return None if at is None else steps[at]


@table("step position token_id token score probability entropy kept")
def fill_choice_data(trace: Trace, position: int | None) -> TableRows:
    """Return a row for each open position of the step that filled the position."""
    step = choosing_step(trace, position)
    if step is None:
        return []
    return [
        (
            nth(step.index),
            nth(one.position),
            one.token_id,
            table_text(one.text),
            one.score,
            one.prob,
            one.entropy,
            one.filled,
        )
        for one in step.open
    ]


def _places(step: CanvasStep) -> list[int]:
    """Return the positions by falling score."""
    return [o.position for o in sorted(step.open, key=lambda one: (-one.score, one.position))]


def _reason(
    step: CanvasStep,
    position: int,
    title: str,
    written: Callable[[str, int], str] = visible_token,
) -> str:
    """Return the position's place in the order, as a sentence; `written` gives a token's text."""
    here = next(one for one in step.open if one.position == position)
    score = percent(here.score)
    if title != _SCORES["confidence"]:
        score = f"{here.score:.3f}".replace("-", "−")
    left = sum(one.position < position and not one.filled for one in step.open)
    return tr(
        _REASON_WITH_GAPS if left else _REASON,
        position=nth(position),
        token=written(here.text, 12),
        number=nth(_places(step).index(position)),
        count=len(step.open),
        score=f"{tr(title)} {score}",
        open=counted(left, "position"),
    )


@figure(
    N_("Why it came then"),
    settings_caption,
    fill_choice_data,
    subtitle=lambda step, position, title: (
        tr(
            "Step {step} kept {tokens} of {count}, the highest scores first.",
            step=nth(step.index),
            tokens=counted(sum(o.filled for o in step.open), "token"),
            count=len(step.open),
        ),
        _reason(step, position, title, show_token),
    ),
    alt=lambda step, position, title: (
        tr("Scores of the open positions at step {step}.", step=nth(step.index)),
        _reason(step, position, title),
        tr("By falling score:"),
        tr("; ").join(_named(step, place) for place in _places(step)[:12]) + tr("."),
    ),
    key=lambda theme: [[(theme.first, tr("kept by the step")), (theme.muted, tr("left open"))]],
)
def fill_choice(
    trace: Trace, position: int | None, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the scores of all open positions at the step that filled one, with their proposals.

    A click on a bar hands over `customdata = [step, position]`.
    """
    step = choosing_step(trace, position)
    if step is None or position is None:
        return no_selection(paper, N_("position"), N_("a cell of the canvas"))
    order = trace.require(Diffusion).config.order
    title = _SCORES["entropy" if step.canvas else order]
    scores = [one.score for one in step.open]
    shares = title in (_SCORES["confidence"], _SCORES["margin"])
    ticks = percent_ticks(1.0) if shares else {"nticks": 7}
    ends = [0, 1.02] if shares else [1.05 * min(*scores, 0.0), 1.05 * max(*scores, 0.05)]
    numbers = [nth(one.position) for one in step.open]
    sheet = token_sheet(
        theme,
        paper,
        [(number, one.text) for number, one in zip(numbers, step.open, strict=True)],
        axis(theme, tr(title), 6, range=ends, **ticks),
        title=N_("proposed token and its position"),
        facts={"step": step, "position": position, "title": title},
    )
    sheet.traces = [_bars(step, numbers, theme)]
    if paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        across = (nth(position) - 0.5, nth(position) + 0.5)
        add_frame(sheet, "selected", across, (0, 1), theme.ink, 1.5, **look)
    return sheet


def _named(step: CanvasStep, position: int) -> str:
    here = next(one for one in step.open if one.position == position)
    return tr(
        "{token} at position {position} with {score:.3f}",
        token=visible_token(here.text, 16),
        position=nth(position),
        score=here.score,
    )


def _bars(step: CanvasStep, numbers: Sequence[int], theme: Theme) -> Properties:
    return {
        "type": "bar",
        "name": "score",
        "x": list(numbers),
        "y": [one.score for one in step.open],
        "width": 0.8,
        "marker": {"color": [theme.first if one.filled else theme.muted for one in step.open]},
        "customdata": [[step.index, one.position] for one in step.open],
        **hover_texts([_hover(step, one) for one in step.open]),
    }


def _hover(step: CanvasStep, one: OpenPosition) -> str:
    return lines(
        f"<b>{show_token(one.text, 40)}</b>",
        tr(
            "step {step} · position {position}: {result}",
            step=nth(step.index),
            position=nth(one.position),
            result=tr("kept") if one.filled else tr("left open"),
        ),
        tr("score {score:.4f}", score=one.score),
        certainty(one),
    )
