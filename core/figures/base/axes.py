"""Axes."""

from __future__ import annotations

from collections.abc import Sequence

from core.figures.base.labels import NBSP
from core.figures.base.paper import SMALL
from core.figures.base.sheet import Properties
from core.figures.base.theme import Theme

# Ticks of an axis of shares.
PERCENT_TICKS: Properties = {
    "tickmode": "array",
    "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "ticktext": [f"{at}{NBSP}%" for at in (0, 25, 50, 75, 100)],
}


def axis(theme: Theme, title: str = "", standoff: int = 4, /, **properties: object) -> Properties:
    """A quiet axis that doesn't zoom under a finger and doesn't move the margins.

    Its labels have their room: Plotly would measure each to hide what leaves the figure, a third of
    the time that a figure of tokens takes to change.
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
    """An axis that places things and shows nothing of itself."""
    return axis(theme, showgrid=False, showline=False, showticklabels=False, **properties)


def named_axis(
    theme: Theme, names: Sequence[str], title: str = "", standoff: int = 4, /, **properties: object
) -> Properties:
    """An axis of tokens: a name at 0, 1, 2, ..."""
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
    """An axis above the plotting area that counts steps, rounds or positions.

    Args:
        ends: the axis' range.
        places: where the ticks are, one for each name.
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
