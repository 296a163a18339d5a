"""Accuracy by thinking budget, over all problems."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ...evaluation.sweep.curves import BudgetPoint, curve
from ...evaluation.sweep.fair import fair_rows
from ...evaluation.sweep.types import BudgetSweep
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import lines
from ..base.marks import add_line, add_note, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import (
    BUDGET_WORDS,
    LEVEL_WORDS,
    NOTHING_YET,
    band_words,
    budget_head,
    levels_within,
    point_words,
    share_record,
    share_words,
    so_far,
    sweep_caption,
)

LEFT, _HEIGHT = 62, 260
# Ends of a percentage axis, with room for the marks at both ends.
SHARES = [-0.02, 1.04]


@table("budget steps correct runs accuracy wilson_low wilson_high", whole="steps")
def frame(panels: Sequence[tuple[int | None, Sequence[BudgetPoint]]]) -> TableRows:
    """Return curves as a table; the number of steps is empty if all difficulties are counted
    together.
    """
    return [
        (point.budget, steps, *share_record(point.correct))
        for steps, points in panels
        for point in points
    ]


def reason_accuracy_data(sweep: BudgetSweep) -> pd.DataFrame:
    """Return a row for each drawn budget; `steps` is empty, as all difficulties are counted
    together.
    """
    return frame([(None, curve(fair_rows(sweep)))])


@figure(
    N_("Accuracy against the budget"),
    sweep_caption,
    reason_accuracy_data,
    subtitle=lambda sweep: (
        tr("The line is the share of right answers."),
        band_words(sweep.plan),
        so_far(sweep),
    ),
    alt=lambda points: (
        tr("Share of right answers by budget, with 95 % Wilson intervals:"),
        tr("; ").join(map(point_words, points)) + tr("."),
    ),
    key=lambda theme, set_budget, ends: [
        [
            (theme.first, tr("right answers"), "●"),
            set_budget is not None
            and (
                (theme.accent, tr("the budget that is set"), "┃")
                if ends[0] <= set_budget <= ends[1]
                else (
                    theme.accent,
                    tr("the budget that is set, {budget:,}, lies beyond", budget=set_budget),
                    "▶" if set_budget > ends[1] else "◀",
                )
            ),
        ]
    ],
    blank=_HEIGHT + 100,
)
def reason_accuracy(
    sweep: BudgetSweep, *, marked: int | None = None, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accuracy at each budget, with Wilson's 95 % interval as a band.

    A click on a point hands over `customdata = [budget]`.

    Args:
        marked: the page's budget; drawn if it lies on the axis, otherwise named in a sentence.
    """
    marked = marked if paper.selection else None
    points = curve(fair_rows(sweep))
    if not points:
        return NOTHING_YET
    plan = sweep.plan
    ends = reach(plan.budgets)
    where = {"yref": "paper", "yanchor": "bottom", "borderpad": 0}
    upright: Properties = {"y": (0, 1), "yref": "paper", "layer": "below"}
    sheet = Sheet(
        theme,
        paper,
        facts={"points": points, "set_budget": marked, "ends": ends},
        explained=[[(theme.muted, tr("budgets that have a name"), "┆")]],
        key_offset=46,
        plot_height=_HEIGHT,
        left=LEFT,
        right=EDGE + 8,
        above=18,
        below=66,
        traces=[band(points, theme), line(points, theme)],
        rows=tr("right answers"),
        layout={
            "xaxis": axis(theme, tr(BUDGET_WORDS[plan.budget_field]), 6, range=ends, nticks=9),
            "yaxis": axis(theme, range=SHARES, **PERCENT_TICKS),
        },
    )
    for name, budget in levels_within(plan.budgets, plan.budget_field).items():
        add_line(sheet, "level", budget, color=theme.muted, width=1, dash="dot", **upright)
        add_note(
            sheet, "level", tr(LEVEL_WORDS[name]), budget, 1, size=11, color=theme.muted, **where
        )
    if marked is not None and ends[0] <= marked <= ends[1]:
        add_line(sheet, "now", marked, color=theme.accent, width=2, **upright)
    return sheet


def reach(budgets: Sequence[int]) -> list[float]:
    """Return the ends of an axis that holds these budgets."""
    room = max(1.0, 0.04 * (budgets[-1] - budgets[0]))
    return [budgets[0] - room, budgets[-1] + room]


def band(points: Sequence[BudgetPoint], theme: Theme, name: str = "interval") -> Properties:
    """Return the interval as a filled outline."""
    there, back = list(points), list(reversed(points))
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines",
        "x": [point.budget for point in (*there, *back)],
        "y": [p.correct.high for p in there] + [p.correct.low for p in back],
        "fill": "toself",
        "fillcolor": blend(theme.first, theme.paper, 0.8),
        "line": {
            "width": 0 if len(points) > 1 else 2,
            "color": blend(theme.first, theme.paper, 0.5),
        },
        "hoverinfo": "skip",
    }


def line(points: Sequence[BudgetPoint], theme: Theme, name: str = "accuracy") -> Properties:
    """Return the accuracies as points on a line; a clicked point hands over its budget."""
    texts = [lines(budget_head(point.budget), share_words(point.correct)) for point in points]
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers",
        "x": [point.budget for point in points],
        "y": [point.correct.value for point in points],
        "line": {"color": theme.first, "width": 2.5},
        "marker": {"color": theme.first, "size": 7, "line": {"color": theme.paper, "width": 1}},
        "customdata": [[point.budget] for point in points],
        **hover_texts(texts),
        "cliponaxis": False,
    }
