"""Lines, frames and texts over a plotting area, and bars that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from .labels import NBSP
from .measure import markup_width
from .sheet import Properties, Sheet
from .theme import Theme

CLEAR = "rgba(0,0,0,0)"
# Line width of a chosen token's frame, px.
FRAME = 2.5
# Gap between two texts in a line, and line height, px.
_APART, _LINE = 12, 15
PAPER: Properties = {"xref": "paper", "yref": "paper"}
# A single number is both ends.
Ends: TypeAlias = float | tuple[float, float]
Point: TypeAlias = tuple[float, float]


def hover_texts(texts: Sequence[object]) -> Properties:
    """Return the hover texts of the marks: escaped Plotly text without anything else."""
    return {"hovertext": texts, "hovertemplate": "%{hovertext}<extra></extra>"}


def _corners(x: Ends, y: Ends) -> Properties:
    x0, x1 = x if isinstance(x, tuple) else (x, x)
    y0, y1 = y if isinstance(y, tuple) else (y, y)
    return {"x0": x0, "x1": x1, "y0": y0, "y1": y1}


def add_line(
    sheet: Sheet, name: str, x: Ends, y: Ends, color: str, width: float, **properties: object
) -> None:
    """Add a straight line by its ends; `dash` among the properties is the line's."""
    line: Properties = {"color": color, "width": width}
    if "dash" in properties:
        line["dash"] = properties.pop("dash")
    sheet.shapes.append(
        {"name": name, "type": "line", **_corners(x, y), "line": line, **properties}
    )


def add_frame(
    sheet: Sheet, name: str, x: Ends, y: Ends, color: str, width: float, **properties: object
) -> None:
    """Add a rectangle around a part, without a fill unless one is given."""
    sheet.shapes.append(
        {
            "name": name,
            "type": "rect",
            **_corners(x, y),
            "fillcolor": CLEAR,
            "line": {"color": color, "width": width},
            **properties,
        }
    )


def add_rings(sheet: Sheet, name: str, x: Sequence[float], y: Sequence[float | None]) -> None:
    """Add open diamonds around points."""
    ring = {"color": sheet.theme.ink, "symbol": "diamond-open", "size": 14, "line": {"width": 2}}
    sheet.traces.append(
        {
            "type": "scatter",
            "name": name,
            "mode": "markers",
            "x": list(x),
            "y": list(y),
            "marker": ring,
            "hoverinfo": "skip",
            "cliponaxis": False,
        }
    )


def add_selection(sheet: Sheet, at: int) -> None:
    """Add a frame around the selected token of an axis of tokens."""
    theme = sheet.theme
    look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
    add_frame(sheet, "selected", (at - 0.5, at + 0.5), (0, 1), theme.ink, 1.5, **look)


def add_note(
    sheet: Sheet,
    name: str,
    text: str,
    x: float,
    y: float,
    *,
    size: float,
    color: str,
    **where: object,
) -> None:
    """Add Plotly text at a position, without an arrow."""
    sheet.annotations.append(
        {
            "name": name,
            "text": text,
            "x": x,
            "y": y,
            "showarrow": False,
            "font": {"size": size, "color": color},
            **where,
        }
    )


def label_bar(
    sheet: Sheet,
    y: float,
    text: str,
    *,
    right: bool = False,
    size: float = 12,
    yshift: int = 0,
    clear: bool = False,
) -> None:
    """Write Plotly text over a horizontal bar with its upper edge at `y`, at its left or right end.

    Args:
        clear: whether lines behind the text continue under it; otherwise they end beside it, as
            grid lines should.
    """
    ground = {} if clear or sheet.paper.transparent else {"bgcolor": sheet.theme.paper}
    sheet.annotations.append(
        {
            **ground,
            "text": text,
            "xref": "paper",
            "x": 1 if right else 0,
            "y": y,
            "xanchor": "right" if right else "left",
            "align": "right" if right else "left",
            "yanchor": "bottom",
            "yshift": yshift,
            "borderpad": 0,
            "borderwidth": 0,
            "showarrow": False,
            "font": {"size": size, "color": sheet.theme.muted if right else sheet.theme.ink},
        }
    )


def label_pair(
    sheet: Sheet,
    y: float,
    name: str,
    said: str,
    *,
    size: float = 12,
    yshift: int = 0,
    clear: bool = False,
    stacked: bool = False,
) -> None:
    """Write a name over the left end of a horizontal bar and a text over its right end (Plotly
    text).

    If both don't fit into one line, the name stands above the other text.

    Args:
        size: font size of the right text, px.
        stacked: the name stands above in any case.
        clear: as in `label_bar`.
    """
    width = markup_width(name) + markup_width(said, size) + _APART
    fits = not stacked and width <= sheet.room
    label_bar(sheet, y, name, yshift=yshift if fits else yshift + _LINE, clear=clear)
    label_bar(sheet, y, said, right=True, size=size, yshift=yshift, clear=clear)


def level_bars(
    rows: Sequence[float], lows: Sequence[float], lengths: Sequence[float], width: float
) -> Properties:
    """Return horizontal bars that start at `lows`, with text inside."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "base": lows,
        "x": lengths,
        "width": width,
        **INSIDE,
        "textangle": 0,
    }


INSIDE: Properties = {"textposition": "inside", "insidetextanchor": "middle"}
OUTSIDE: Properties = {
    "textposition": "outside",
    "textangle": 0,
    "constraintext": "none",
    "cliponaxis": False,
}


def token_bars(
    theme: Theme,
    name: str,
    lengths: Sequence[float],
    hovers: Sequence[str],
    color: str | Sequence[str],
    *,
    texts: Sequence[str] | None = None,
    ink: str | Sequence[str] = "",
    chosen: Sequence[bool] = (),
    marker: Properties | None = None,
    **properties: object,
) -> Properties:
    """Return a horizontal bar for each token, one below the other.

    Args:
        texts: texts after the bars; `ink` is their colour, by default the theme's.
        chosen: for each token whether its bar is framed.
        marker: further properties of the bars.
    """
    widths = [FRAME if is_chosen else 0 for is_chosen in chosen]
    frame = {"line": {"width": widths, "color": theme.accent}} if chosen else {}
    font = {"textfont": {"size": 11, "color": ink or theme.ink}}
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": list(lengths),
        "y": list(range(len(lengths))),
        **({} if texts is None else {"text": list(texts), **OUTSIDE, **font}),
        **hover_texts(hovers),
        "marker": {"color": color, **frame, **(marker or {})},
        **properties,
    }


def token_cells(
    theme: Theme,
    name: str,
    corners: Sequence[Point],
    texts: Sequence[str],
    hovers: Sequence[str] | None,
    color: str | Sequence[str],
    ink: str | Sequence[str],
    *,
    width: object = 1,
    heights: Sequence[float] = (),
    size: float = 12,
    pattern: Properties | None = None,
    **properties: object,
) -> Properties:
    """Return cells with one token each, as vertical bars.

    Args:
        corners: middle of each cell's upper edge (y grows downwards).
        hovers: hover texts; None if cells have none.
        heights: heights of the cells, by default 1 each.
        size: font size of the tokens, px.
    """
    hatched = {} if pattern is None else {"pattern": pattern}
    return {
        "type": "bar",
        "name": name,
        "x": [x for x, _ in corners],
        "base": [y for _, y in corners],
        "y": list(heights) or [1] * len(corners),
        "width": width,
        **INSIDE,
        "text": texts,
        "textfont": {"family": theme.mono, "size": size, "color": ink},
        **({"hoverinfo": "skip"} if hovers is None else hover_texts(hovers)),
        "marker": {"color": color, "line": {"width": 1.5, "color": theme.paper}, **hatched},
        **properties,
    }


def overlaid(least_size: float | None = None) -> Properties:
    """Return the layout of overlaid bars without gaps.

    Args:
        least_size: smallest font size, px; bars without room for it hide their text.
    """
    fit = {} if least_size is None else {"uniformtext": {"minsize": least_size, "mode": "hide"}}
    return {"barmode": "overlay", "bargap": 0, **fit}


def strokes(lines: Iterable[Sequence[tuple[float, float | None]]]) -> Properties:
    """Return separate lines as one trace, each from point to point; None interrupts a line."""
    points = [point for line in lines for point in (*line, (None, None))]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "hoverinfo": "skip",
    }


def crosses(x: Sequence[float], y: Sequence[float], theme: Theme) -> Properties:
    """Return small crosses, as a replacement for hatching."""
    return {
        "type": "scatter",
        "name": "crosses",
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": {"symbol": "x-thin", "size": 4, "line": {"width": 1, "color": theme.ink}},
        "hoverinfo": "skip",
    }


def numbers_behind(
    name: str, ends: Sequence[float], texts: Sequence[str], font: Properties
) -> Properties:
    """Return texts at the right of horizontal bars, whose ends are given row by row."""
    return {
        "type": "scatter",
        "name": name,
        "mode": "text",
        "x": ends,
        "y": list(range(len(ends))),
        "text": [f"{NBSP}{text}" for text in texts],
        "textposition": "middle right",
        "textfont": font,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def mono(text: str, theme: Theme) -> str:
    """Return a token inside a sentence: bold, in the tokens' font (Plotly text)."""
    return f'<span style="font-family:{theme.mono};font-weight:700">{text}</span>'
