"""Axes of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...language import N_, tr
from .labels import NBSP, show_token, unspaced
from .paper import SMALL, Paper
from .sheet import Properties, Sheet
from .theme import Theme

# Most tokens named below the axis of a page.
MOST_TICKS = 32
# What the name of a token below the axis takes, px.
_TICK = 13
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
    if isinstance(labels := properties.get("ticktext"), list):
        properties["ticktext"] = [unspaced(label) for label in labels]
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


# Titles of the axis of tokens: of a run, and of a text that was read.
CHOSEN_TOKENS = N_("chosen token and its step")
READ_TOKENS = N_("token of the text and its number")


def token_sheet(
    theme: Theme,
    paper: Paper,
    names: Sequence[tuple[int, str]],
    yaxis: Properties,
    *,
    left: int = 48,
    title: str = CHOSEN_TOKENS,
    **parts: Any,
) -> Sheet:
    """Return a sheet of values along tokens, which stand upright below it with their numbers.

    Args:
        names: numbers and raw texts, by rising number.
        yaxis: of the values.
        title: of the tokens' axis.
        parts: further fields of the sheet.
    """
    # More tokens than this aren't written below the axis of a page, so every n-th is.
    most = int((paper.width - left - 18) / _TICK) if paper.printed else MOST_TICKS
    layout = {"xaxis": _token_axis(theme, tr(title), names, most), "yaxis": yaxis}
    size = {"plot_height": 240, "left": left, "right": 18, "below": 116, "key_offset": 98}
    return Sheet(theme, paper, **{**size, "layout": layout, **parts})


def _token_axis(
    theme: Theme, title: str, names: Sequence[tuple[int, str]], most: int
) -> Properties:
    first, last = names[0][0], names[-1][0]
    named = names[:: math.ceil(max(len(names), 8) / most)]
    digits = len(str(last))
    return axis(
        theme,
        title,
        8,
        range=[first - 0.7, max(last, first + 7) + 0.7],
        showgrid=False,
        tickmode="array",
        tickvals=[number for number, _ in named],
        ticktext=[
            f'{show_token(text, 8)} <span style="color:{theme.muted}">'
            f"{str(number).rjust(digits).replace(' ', NBSP)}</span>"
            for number, text in named
        ],
        tickangle=-90,
        tickfont={"family": theme.mono, "size": SMALL, "color": theme.ink},
        ticklabelstandoff=2,
    )


def power_axis(
    theme: Theme, title: str, low: float, high: float, *, percent: bool = False
) -> Properties:
    """An axis of decimal logarithms with ticks at powers of ten.

    Plotly's own logarithmic axis can't hold values below the smallest float.

    Args:
        low, high: the logarithms to show.
        percent: label the powers as percentages.
    """
    bottom, top = math.floor(low), math.ceil(high)
    step = math.ceil((top - bottom) / 6) or 1
    powers = range(top, bottom - 1, -step)
    return axis(
        theme,
        title,
        6,
        range=[low - 0.04 * (high - low) - 0.05, high + 0.05 * (high - low) + 0.05],
        tickmode="array",
        tickvals=list(powers),
        ticktext=[power_label(power, percent=percent) for power in powers],
    )


def power_label(power: int, *, percent: bool) -> str:
    """Return a power of ten as the axis labels it."""
    shown, unit = (power + 2, f"{NBSP}%") if percent else (power, "")
    return f"{10.0**shown:g}{unit}" if -4 <= shown <= 3 else f"1e{shown}{unit}".replace("-", "−")


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
