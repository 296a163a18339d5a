"""Order of filling beside the autoregressive one."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted, nth
from ...decoding.diffusion.canvas import canvas_steps, forwards_of
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_frame, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .canvas import NOTHING_FILLED, Filled, filled_positions


def text_positions(trace: Trace) -> list[Filled]:
    """Return the filled positions of the text, in the order of the text, as they stayed."""
    last = {one.position: one for one in filled_positions(trace) if one.masked_again is None}
    filled = [last[position] for position in sorted(last)]
    return [one for one in filled if one.position < len(trace.token_ids)] or filled


@table("position token_id token step autoregressive_step probability")
def fill_order_data(trace: Trace) -> TableRows:
    """Return a row for each position of the text, with the step that filled it."""
    return [
        (
            nth(one.position),
            one.token_id,
            table_text(one.text),
            nth(one.step),
            nth(one.position),
            one.prob,
        )
        for one in text_positions(trace)
    ]


@figure(
    N_("The order of filling"),
    settings_caption,
    fill_order_data,
    subtitle=lambda trace, early, again: (
        tr(
            "{forwards} for {tokens}.",
            forwards=counted(forwards_of(trace), "forward"),
            tokens=counted(len(trace.token_ids), "token"),
        ),
        any(step.canvas for step in canvas_steps(trace))
        and tr("A token’s step is the one since which it has been the likeliest."),
        early > 0 and tr("{tokens} came before one on the left.", tokens=counted(early, "token")),
        again > 0 and tr("Masked again on the way: {tokens}.", tokens=counted(again, "token")),
    ),
    alt=lambda filled, early: (
        tr(
            "The step at which each of {count} positions was filled; {early} before a position on "
            "the left. By position:",
            count=len(filled),
            early=counted(early, "position"),
        ),
        tr("; ").join(
            tr("{token} at step {step}", token=visible_token(one.text, 16), step=nth(one.step))
            for one in filled[:24]
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.first, tr("this run"), "●"),
            (theme.muted, tr("one token after the other (autoregressive)"), "━"),
        ]
    ],
)
def fill_order(
    trace: Trace,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the step that filled each position of the text, and the diagonal of one token a step.

    Args:
        selected: position to mark.

    A click on a point hands over `customdata = [step, position]`.
    """
    filled = text_positions(trace)
    if not filled:
        return tr(NOTHING_FILLED)
    numbers = [nth(one.position) for one in filled]
    steps = [nth(one.step) for one in filled]
    early = sum(one.step < max(other.step for other in filled[: at + 1])
                for at, one in enumerate(filled))  # fmt: skip
    top = max(*steps, *numbers, 2) + 0.6
    sheet = token_sheet(
        theme,
        paper,
        [(number, one.text) for number, one in zip(numbers, filled, strict=True)],
        axis(theme, tr("filled at step"), 6, range=[0.4, top], nticks=8),
        title=N_("token and its position"),
        facts={
            "filled": filled,
            "early": early,
            "again": sum(len(step.remasked) for step in canvas_steps(trace)),
        },
    )
    sheet.traces = _marks(filled, theme)
    if selected is not None and paper.selection and nth(selected) in numbers:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        across = (nth(selected) - 0.5, nth(selected) + 0.5)
        add_frame(sheet, "selected", across, (0, 1), theme.ink, 1.5, **look)
    return sheet


def _marks(filled: Sequence[Filled], theme: Theme) -> list[Properties]:
    """Return the diagonal of one token a step, and a point for each position."""
    ends = [nth(filled[0].position), nth(filled[-1].position)]
    hovers = [
        lines(
            f"<b>{show_token(one.text, 40)}</b>",
            tr(
                "position {position} · filled at step {step}",
                position=nth(one.position),
                step=nth(one.step),
            ),
            tr("probability {probability}", probability=percent(one.prob)),
        )
        for one in filled
    ]
    line: Properties = {"color": theme.muted, "width": 1.5}
    look: Properties = {"type": "scatter", "name": "autoregressive", "mode": "lines"}
    return [
        {**look, "x": ends, "y": ends, "line": line, "hoverinfo": "skip"},
        {
            "type": "scatter",
            "name": "this run",
            "mode": "markers",
            "x": [nth(one.position) for one in filled],
            "y": [nth(one.step) for one in filled],
            "marker": {"color": theme.first, "size": 9},
            "customdata": [[one.step, one.position] for one in filled],
            "cliponaxis": False,
            **hover_texts(hovers),
        },
    ]
