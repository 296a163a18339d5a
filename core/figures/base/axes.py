"""Axes of figures."""

from __future__ import annotations

from collections.abc import Sequence

from core.figures.base.labels import NBSP
from core.figures.base.paper import SMALL
from core.figures.base.sheet import Properties
from core.figures.base.theme import Theme

# Ticks of a percentage axis.
PERCENT_TICKS: Properties = {
    "tickmode": "array",
    "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "ticktext": [f"{at}{NBSP}%" for at in (0, 25, 50, 75, 100)],
}


def axis(theme: Theme, title: str = "", standoff: int = 4, /, **properties: object) -> Properties:
    """Return an axis that doesn't zoom on touch and doesn't change the margins.

    Its labels have enough room. Without this setting, Plotly measures each label to hide those
    outside the figure, a third of the update time of a figure of tokens.
    """
    font = {"size": 12, "color": theme.muted}
    return {
        "fixedrange": True,
        "automargin": False,
        "ticklabeloverflow": "allow",
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 11, "color": theme.muted},
        "title": {"font": font, "text": title, "standoff": standoff} if title else {"font": font},
        **properties,
    }


def bare_axis(theme: Theme, **properties: object) -> Properties:
    """Return an axis for positions only, without line, ticks or labels."""
    return axis(theme, showgrid=False, showline=False, showticklabels=False, **properties)


def named_axis(
    theme: Theme, names: Sequence[str], title: str = "", standoff: int = 4, /, **properties: object
) -> Properties:
    """Return an axis of tokens: a name at 0, 1, 2, ..."""
    named = {
        "showgrid": False,
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "tickfont": {"family": theme.mono, "size": 12, "color": theme.ink},
    }
    return axis(theme, title, standoff, **named | properties)


def top_axis(
    theme: Theme, ends: Sequence[float], places: Sequence[float], names: Sequence[str]
) -> Properties:
    """Return an axis above the plotting area, for numbers of steps, rounds or positions.

    Args:
        ends: range of the axis.
        places: positions of the ticks, one for each name.
    """
    return axis(
        theme,
        range=list(ends),
        side="top",
        showgrid=False,
        showline=False,
        tickmode="array",
        tickvals=list(places),
        ticktext=list(names),
        tickangle=0,
        tickfont={"size": SMALL, "color": theme.muted},
    )
