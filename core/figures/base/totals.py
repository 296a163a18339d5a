"""Stacked horizontal bars of totals, above a panel of the single steps."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ...language import tr
from .axes import axis, bare_axis
from .labels import NBSP
from .marks import label_pair
from .measure import markup_width
from .sheet import EDGE, Properties, Sheet
from .theme import Theme

BAR = 0.42
# Font size of a total, px.
_TOTAL = 11


def add_part(
    sheet: Sheet, name: str, rows: Sequence[int], values: Sequence[float], color: str
) -> Properties:
    """Add a part of the totals, stacked on the earlier parts, and return its trace."""
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


def name_total(sheet: Sheet, row: int, name: str, total: str, more: str = "") -> None:
    """Write the name of a bar and its total over its ends (Plotly text).

    Args:
        more: plain text after the total, which is left out if the figure is too narrow for it.
    """
    fits = markup_width(f"{total}{more}", _TOTAL) <= sheet.left + sheet.room - EDGE
    said = f"{total}{more}" if fits else total
    label_pair(sheet, row - BAR / 2, f"<b>{name}</b>", said, size=_TOTAL, yshift=1)


def of_runs(times: Sequence[float]) -> str:
    """Return the words after a total that is the median of several runs."""
    return (
        tr(", median of {number}{nbsp}runs", number=len(times), nbsp=NBSP) if len(times) > 1 else ""
    )


def add_whiskers(sheet: Sheet, runs: Sequence[Sequence[float]]) -> None:
    """Draw the fastest and the slowest run over each total; nothing for a single run.

    Args:
        runs: for each row, the times of its runs in the unit of the totals.
    """
    spreads = [(row, sorted(times)) for row, times in enumerate(runs) if len(times) > 1]
    if not spreads:
        return
    sheet.explained.append([(sheet.theme.ink, tr("from the fastest run to the slowest"), "━")])
    middles = [median(times) for _, times in spreads]
    sheet.traces.append(
        {
            "type": "scatter",
            "name": "fastest to slowest",
            "mode": "markers",
            "x": middles,
            "y": [row for row, _ in spreads],
            "marker": {"size": 1, "color": sheet.theme.ink},
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [t[-1] - m for (_, t), m in zip(spreads, middles, strict=True)],
                "arrayminus": [m - t[0] for (_, t), m in zip(spreads, middles, strict=True)],
                "color": sheet.theme.ink,
                "thickness": 1.5,
                "width": 5,
            },
            "hoverinfo": "skip",
        }
    )


def total_axes(
    theme: Theme,
    title: str,
    totals: Sequence[float],
    upper: float,
    *,
    rows: int | None = None,
    **across: object,
) -> Properties:
    """Return the axes of the totals in the `upper` share of the plotting area's height.

    Args:
        totals: all values that must fit.
        rows: number of bars; by default the number of totals.
    """
    return {
        "xaxis": axis(
            theme, title, 2, range=[0, max(totals) * 1.02 or 1], showgrid=False, nticks=6, **across
        ),
        "yaxis": bare_axis(theme, range=[(rows or len(totals)) - 0.7, -0.7], domain=[1 - upper, 1]),
    }


def step_axes(
    theme: Theme, titles: tuple[str, str], steps: int, lower: float, ticks: int, **upright: object
) -> Properties:
    """Return the axes of the steps in the `lower` share of the plotting area's height."""
    return {
        "xaxis2": axis(
            theme,
            titles[0],
            anchor="y2",
            range=[0.5, max(steps, 8) + 0.5],
            showgrid=False,
            nticks=ticks,
        ),
        "yaxis2": axis(theme, titles[1], anchor="x2", domain=[0, lower], nticks=5, **upright),
    }
