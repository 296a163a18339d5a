"""Totals as stacked level bars, over a panel with every step on its own."""

from __future__ import annotations

from collections.abc import Sequence

from core.figures.base.axes import axis, bare_axis
from core.figures.base.marks import label_bar
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import Theme

BAR = 0.42


def add_part(
    sheet: Sheet, name: str, rows: Sequence[int], values: Sequence[float], color: str
) -> Properties:
    """Add a part of the totals, stacked on those before it; returns its trace."""
    part: Properties = {
        "type": "bar",
        "name": name,
        "orientation": "h",
        "y": list(rows),
        "x": list(values),
        "width": BAR,
        "marker": {"color": color, "line": {"color": sheet.theme.paper, "width": 0.8}},
    }
    sheet.traces.append(part)
    return part


def name_total(sheet: Sheet, row: int, name: str, total: str) -> None:
    """The name of a bar and what it sums up to, over its ends (Plotly text)."""
    label_bar(sheet, row - BAR / 2, f"<b>{name}</b>", yshift=1)
    label_bar(sheet, row - BAR / 2, total, right=True, size=11, yshift=1)


def total_axes(
    theme: Theme, title: str, totals: Sequence[float], upper: float, **across: object
) -> Properties:
    """The axes of the totals, which take the `upper` share of the plotting area's height."""
    ends = [0, max(totals) * 1.02 or 1]
    down = bare_axis(theme, range=[len(totals) - 0.7, -0.7], domain=[1 - upper, 1])
    level = axis(theme, title, 2, range=ends, showgrid=False, nticks=6, **across)
    return {"xaxis": level, "yaxis": down}


def step_axes(
    theme: Theme, titles: tuple[str, str], steps: int, lower: float, ticks: int, **upright: object
) -> Properties:
    """The axes of so many steps, which take the `lower` share of the plotting area's height."""
    ends = [-0.5, max(steps, 8) - 0.5]
    across = axis(theme, titles[0], anchor="y2", range=ends, showgrid=False, nticks=ticks)
    up = axis(theme, titles[1], anchor="x2", domain=[0, lower], nticks=5, **upright)
    return {"xaxis2": across, "yaxis2": up}
