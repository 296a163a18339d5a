"""Accuracy by thinking budget for each difficulty: small multiples on one scale."""

from __future__ import annotations

import pandas as pd

from ...decoding.counting import counted
from ...evaluation.sweep.curves import BudgetPoint, curves_by_steps
from ...evaluation.sweep.fair import fair_rows
from ...evaluation.sweep.types import BudgetSweep
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import figure
from ..base.labels import NBSP
from ..base.marks import PAPER, add_note
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .accuracy import LEFT, SHARES, band, frame, line, reach
from .words import (
    BUDGET_WORDS,
    NOTHING_YET,
    band_words,
    so_far,
    sweep_caption,
)

# In px, except the gap beside a panel, which is a share of its width.
_COLUMNS, _PANEL, _PANEL_GAP, _SIDE_GAP = 4, 116, 42, 0.04


def reason_difficulty_data(sweep: BudgetSweep) -> pd.DataFrame:
    """Return a row for each number of steps and budget."""
    return frame(list(_panels(sweep).items()))


@figure(
    N_("Accuracy by problem difficulty"),
    sweep_caption,
    reason_difficulty_data,
    subtitle=lambda sweep: (
        tr("Accuracy by the number of steps that a problem takes."),
        band_words(sweep.plan),
        so_far(sweep),
    ),
    alt=lambda panels: (
        tr("Accuracy by budget, one panel for each number of steps."),
        tr("; ").join(
            tr(
                "{steps}: from {first:g} % at {least} to {last:g} % at {most}",
                steps=counted(steps, "step"),
                first=points[0].correct.percent,
                least=points[0].budget,
                last=points[-1].correct.percent,
                most=points[-1].budget,
            )
            for steps, points in panels.items()
        )
        + tr("."),
    ),
)
def reason_difficulty(
    sweep: BudgetSweep, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accuracy by the number of a problem's steps: one panel per difficulty, one scale for
    all.
    """
    panels = _panels(sweep)
    if not panels:
        unsaid = N_("These problems don't say how many steps they take.")
        return unsaid if fair_rows(sweep) else NOTHING_YET
    rows = -(-len(panels) // _COLUMNS)
    height = rows * _PANEL + (rows - 1) * _PANEL_GAP
    where = {**PAPER, "yanchor": "top", "yshift": -24, "borderpad": 0}
    words = tr(BUDGET_WORDS[sweep.plan.budget_field])
    sheet = Sheet(
        theme,
        paper,
        facts={"panels": panels},
        plot_height=height,
        left=LEFT,
        right=EDGE + 4,
        above=22,
        below=50,
        # One title beside the panels for all of their axes, and another below them.
        rows=tr("right answers"),
    )
    for at, (steps, points) in enumerate(panels.items()):
        _add_panel(sheet, at, steps, points, sweep, height)
    add_note(sheet, "axis", words, 0.5, 0, size=12, color=theme.muted, **where)
    return sheet


def _panels(sweep: BudgetSweep) -> dict[int, tuple[BudgetPoint, ...]]:
    return {
        steps: points
        for steps, points in curves_by_steps(fair_rows(sweep)).items()
        if steps is not None
    }


def _add_panel(
    sheet: Sheet,
    at: int,
    steps: int,
    points: tuple[BudgetPoint, ...],
    sweep: BudgetSweep,
    height: int,
) -> None:
    """Add a panel: axes, band, line, and its number of steps as a heading."""
    theme = sheet.theme
    row, column = divmod(at, _COLUMNS)
    end = "" if at == 0 else str(at + 1)
    width = 1 / (_COLUMNS + _SIDE_GAP * (_COLUMNS - 1))
    left, top = column * width * (1 + _SIDE_GAP), 1 - row * (_PANEL + _PANEL_GAP) / height
    drawn = band(points, theme, f"interval {steps}"), line(points, theme, f"steps {steps}")
    sheet.traces += [{**trace, "xaxis": f"x{end}", "yaxis": f"y{end}"} for trace in drawn]
    sheet.layout[f"xaxis{end}"] = axis(
        theme,
        tickangle=0,
        domain=[left, left + width],
        anchor=f"y{end}",
        range=reach(sweep.plan.budgets),
        nticks=3,
    )
    sheet.layout[f"yaxis{end}"] = axis(
        theme,
        domain=[top - _PANEL / height, top],
        anchor=f"x{end}",
        range=SHARES,
        showticklabels=column == 0,
        tickmode="array",
        tickvals=[0, 0.5, 1],
        ticktext=[f"{n}{NBSP}%" for n in (0, 50, 100)],
    )
    where = {**PAPER, "xanchor": "left", "yanchor": "bottom", "yshift": 3, "borderpad": 0}
    heading = f"<b>{tr(counted(steps, 'step'))}</b>"
    add_note(sheet, "panel", heading, left, top, size=12, color=theme.ink, **where)
