"""Accuracy against the budget, for all problems and by difficulty."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.figures.color import blend
from core.figures.furniture import add_key, axis, key_entry
from core.figures.labels import NBSP
from core.figures.reason.words import (
    BUDGET_WORDS,
    levels_within,
    share_words,
    so_far,
    sweep_caption,
)
from core.figures.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.theme import LIGHT, Theme
from core.reasoning.curves import BudgetPoint, curve, curves_by_steps
from core.reasoning.types import Sweep

_TITLE, _PANELS_TITLE = "Accuracy against the budget", "The harder, the more it needs"
_LEFT = 52
_COLUMNS, _PANEL, _PANEL_GAP = 4, 116, 42
_PERCENTS: Properties = {
    "range": [-0.02, 1.04],
    "tickmode": "array",
    "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "ticktext": [f"{at}{NBSP}%" for at in (0, 25, 50, 75, 100)],
}
NO_RUN = "No run of this sweep has ended yet."
COLUMNS = "budget steps correct runs accuracy wilson_low wilson_high".split()


def reason_accuracy(sweep: Sweep, *, marked: int | None = None, theme: Theme = LIGHT) -> go.Figure:
    """The share of right answers at each budget, with Wilson's 95 % interval as a band.

    A click on a point hands over `customdata = [budget]`.

    Args:
        marked: the budget that the page is set to; drawn where the axis holds it.
    """
    points, caption = curve(sweep.rows), sweep_caption(sweep.plan)
    if not points:
        return plain_sentence(theme, NO_RUN, title=_TITLE, caption=caption)
    sheet, plan = Sheet(theme), sweep.plan
    lay_out(
        sheet,
        title=_TITLE,
        subtitle=f"How many answers are right; the band is the 95{NBSP}% interval." + so_far(sweep),
        caption=caption,
        alt=_alt(points),
        plot_height=260,
        left=_LEFT,
        right=EDGE + 8,
        above=18,
        below=66,
    )
    sheet.traces = [_band(points, theme), _line(points, theme)]
    budgets = [point.budget for point in points]
    reach = _reach(plan.budgets or budgets)
    sheet.layout |= {
        "xaxis": axis(theme, BUDGET_WORDS[plan.budget_field], 6, range=reach, nticks=9),
        "yaxis": axis(theme, **_PERCENTS),
    }
    _mark_levels(sheet, levels_within(plan.budgets or budgets, plan.budget_field))
    words = [key_entry(theme.first, "right answers", "●")]
    if marked is not None and reach[0] <= marked <= reach[1]:
        _mark_now(sheet, marked)
        words.append(key_entry(theme.accent, "the budget set above", "┃"))
    add_key(sheet, ["".join(words)], _LEFT, offset=46)
    return sheet.figure()


def _reach(budgets: Sequence[int]) -> list[float]:
    room = max(1.0, 0.04 * (budgets[-1] - budgets[0]))
    return [budgets[0] - room, budgets[-1] + room]


def _band(points: Sequence[BudgetPoint], theme: Theme, name: str = "interval") -> Properties:
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


def _line(points: Sequence[BudgetPoint], theme: Theme, name: str = "accuracy") -> Properties:
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers",
        "x": [point.budget for point in points],
        "y": [point.correct.value for point in points],
        "line": {"color": theme.first, "width": 2.5},
        "marker": {"color": theme.first, "size": 7, "line": {"color": theme.paper, "width": 1}},
        "customdata": [[point.budget] for point in points],
        "hovertext": [_hover(point) for point in points],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "cliponaxis": False,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _hover(point: BudgetPoint) -> str:
    return f"<b>budget {point.budget}</b><br>{share_words(point.correct)}"


def _mark_levels(sheet: Sheet, levels: dict[str, int]) -> None:
    """Dotted lines with the names of the levels above the plotting area."""
    for name, budget in levels.items():
        line = {"color": sheet.theme.muted, "width": 1, "dash": "dot"}
        place = {"x0": budget, "x1": budget, "y0": 0, "y1": 1, "yref": "paper"}
        sheet.shapes.append(
            {"name": "level", "type": "line", "layer": "below", "line": line, **place}
        )
        sheet.annotations.append(
            {
                "name": "level",
                "text": name,
                "x": budget,
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "borderpad": 0,
                "showarrow": False,
                "font": {"size": 11, "color": sheet.theme.muted},
            }
        )


def _mark_now(sheet: Sheet, budget: int) -> None:
    line = {"color": sheet.theme.accent, "width": 2}
    place = {"x0": budget, "x1": budget, "y0": 0, "y1": 1, "yref": "paper"}
    sheet.shapes.append({"name": "now", "type": "line", "layer": "below", "line": line, **place})


def _alt(points: Sequence[BudgetPoint]) -> str:
    words = "; ".join(
        f"{100 * p.correct.value:.0f} % at {p.budget} tokens "
        f"({p.correct.hits} of {p.correct.total})"
        for p in points
    )
    return f"Share of right answers by budget, with 95 % Wilson intervals: {words}."


def reason_difficulty(sweep: Sweep, *, theme: Theme = LIGHT) -> go.Figure:
    """The same by the number of a problem's steps: one panel a difficulty, one scale for all."""
    panels, caption = _panels(sweep), sweep_caption(sweep.plan)
    if not panels:
        sentence = "These problems don't say how many steps they take." if sweep.rows else NO_RUN
        return plain_sentence(theme, sentence, title=_PANELS_TITLE, caption=caption)
    sheet, rows = Sheet(theme), -(-len(panels) // _COLUMNS)
    height = rows * _PANEL + (rows - 1) * _PANEL_GAP
    lay_out(
        sheet,
        title=_PANELS_TITLE,
        subtitle="Accuracy by the number of steps that a problem takes." + so_far(sweep),
        caption=caption,
        alt=_panels_alt(panels),
        plot_height=height,
        left=_LEFT,
        right=EDGE + 4,
        above=22,
        below=50,
    )
    for at, (steps, points) in enumerate(panels.items()):
        _add_panel(sheet, at, steps, points, sweep, (rows, height))
    return sheet.figure()


def _panels(sweep: Sweep) -> dict[int, tuple[BudgetPoint, ...]]:
    by_steps = curves_by_steps(sweep.rows)
    return {steps: points for steps, points in by_steps.items() if steps is not None}


def _add_panel(
    sheet: Sheet,
    at: int,
    steps: int,
    points: tuple[BudgetPoint, ...],
    sweep: Sweep,
    size: tuple[int, int],
) -> None:
    """A panel in its place: axes, band, line and its number of steps as a heading."""
    rows, height = size
    theme, plan = sheet.theme, sweep.plan
    row, column = divmod(at, _COLUMNS)
    end = "" if at == 0 else str(at + 1)
    left = column * (1 + 0.04) / (_COLUMNS + 0.04 * (_COLUMNS - 1))
    width = 1 / (_COLUMNS + 0.04 * (_COLUMNS - 1))
    top = 1 - row * (_PANEL + _PANEL_GAP) / height
    domains = {"x": [left, left + width], "y": [top - _PANEL / height, top]}
    for drawn in (
        _band(points, theme, f"interval {steps}"),
        _line(points, theme, f"steps {steps}"),
    ):
        sheet.traces.append({**drawn, "xaxis": f"x{end}", "yaxis": f"y{end}"})
    budgets = plan.budgets or tuple(point.budget for point in points)
    sheet.layout |= {
        f"xaxis{end}": axis(
            theme,
            BUDGET_WORDS[plan.budget_field] if row == rows - 1 and column == 0 else "",
            4,
            domain=domains["x"],
            anchor=f"y{end}",
            range=_reach(budgets),
            nticks=4,
        ),
        f"yaxis{end}": axis(
            theme,
            **_PERCENTS,
            domain=domains["y"],
            anchor=f"x{end}",
            showticklabels=column == 0,
        )
        | {"tickvals": [0, 0.5, 1], "ticktext": [f"{n}{NBSP}%" for n in (0, 50, 100)]},
    }
    sheet.annotations.append(
        {
            "name": "panel",
            "text": f"<b>{steps} {'step' if steps == 1 else 'steps'}</b>",
            "xref": "paper",
            "yref": "paper",
            "x": left,
            "y": top,
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 3,
            "borderpad": 0,
            "showarrow": False,
            "font": {"size": 12, "color": theme.ink},
        }
    )


def _panels_alt(panels: dict[int, tuple[BudgetPoint, ...]]) -> str:
    words = "; ".join(
        f"{steps} {'step' if steps == 1 else 'steps'}: from {100 * points[0].correct.value:.0f} % "
        f"at {points[0].budget} to {100 * points[-1].correct.value:.0f} % at {points[-1].budget}"
        for steps, points in panels.items()
    )
    return f"Accuracy by budget, one panel for each number of steps. {words}."


def reason_accuracy_data(sweep: Sweep) -> pd.DataFrame:
    """A row for each budget; `steps` is empty, as all difficulties are counted together."""
    return _frame([(None, curve(sweep.rows))])


def reason_difficulty_data(sweep: Sweep) -> pd.DataFrame:
    """A row for each number of steps and budget."""
    return _frame(list(_panels(sweep).items()))


def _frame(panels: Sequence[tuple[int | None, tuple[BudgetPoint, ...]]]) -> pd.DataFrame:
    records = [
        (
            point.budget,
            steps,
            point.correct.hits,
            point.correct.total,
            point.correct.value,
            point.correct.low,
            point.correct.high,
        )
        for steps, points in panels
        for point in points
    ]
    return pd.DataFrame(records, columns=COLUMNS).astype({"steps": "Int64"})
