"""Axes, keys and what else stands around a figure's data."""

from __future__ import annotations

from core.figures.base.labels import NBSP
from core.figures.base.sheet import Properties, Sheet, add_lines
from core.figures.base.theme import Theme

# A click selects; what is not selected must not fade.
NO_FADE: Properties = {
    "selected": {"marker": {"opacity": 1}},
    "unselected": {"marker": {"opacity": 1}},
}


def no_fade(text_color: str) -> Properties:
    """`NO_FADE` for marks that bear text."""
    state = {"marker": {"opacity": 1}, "textfont": {"color": text_color}}
    return {"selected": state, "unselected": state}


def axis(theme: Theme, title: str = "", standoff: int = 4, /, **properties: object) -> Properties:
    """A quiet axis that doesn't zoom under a finger and doesn't move the margins."""
    font = {"size": 12, "color": theme.muted}
    return {
        "fixedrange": True,
        "automargin": False,
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 11, "color": theme.muted},
        "title": {"font": font, "text": title, "standoff": standoff} if title else {"font": font},
        **properties,
    }


def add_key(sheet: Sheet, lines: list[str], left: int, *, offset: int = 8) -> None:
    """Write a key below the plotting area, in lines of Plotly text."""
    font: Properties = {"size": 11, "color": sheet.theme.ink}
    add_lines(sheet, "key", lines, left, y=0, yanchor="top", yshift=-offset, font=font)


def key_entry(color: str, words: str, sign: str = "■") -> str:
    """One entry of a key: a coloured sign and words (Plotly text)."""
    return f'<span style="color:{color};font-size:13px">{sign}</span>{NBSP}{words}{NBSP}{NBSP} '


def label_bar(
    sheet: Sheet, y: float, text: str, *, right: bool = False, size: int = 12, yshift: int = 0
) -> None:
    """Write Plotly text over a level bar whose upper edge is at `y`, at its left or right end."""
    sheet.annotations.append(
        {
            "text": text,
            "xref": "paper",
            "x": 1 if right else 0,
            "y": y,
            "xanchor": "right" if right else "left",
            "yanchor": "bottom",
            "yshift": yshift,
            "borderpad": 0,
            "borderwidth": 0,
            "showarrow": False,
            "font": {"size": size, "color": sheet.theme.muted if right else sheet.theme.ink},
        }
    )
