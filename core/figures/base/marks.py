"""Lines, frames and words over a plotting area, and bars that several figures draw alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from core.figures.base.labels import NBSP
from core.figures.base.measure import markup_width
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import Theme

CLEAR = "rgba(0,0,0,0)"
# The frame of a chosen token, px.
FRAME = 2.5
# Between two texts in a line, and from a line to the next, px.
_APART, _LINE = 12, 15
PAPER: Properties = {"xref": "paper", "yref": "paper"}
# One number is both ends.
Ends: TypeAlias = float | tuple[float, float]
Point: TypeAlias = tuple[float, float]


def hover_texts(texts: Sequence[object]) -> Properties:
    """Hover texts of the marks: escaped Plotly text, and nothing else."""
    return {"hovertext": texts, "hovertemplate": "%{hovertext}<extra></extra>"}


def _corners(x: Ends, y: Ends) -> Properties:
    x0, x1 = x if isinstance(x, tuple) else (x, x)
    y0, y1 = y if isinstance(y, tuple) else (y, y)
    return {"x0": x0, "x1": x1, "y0": y0, "y1": y1}


def add_line(
    sheet: Sheet, name: str, x: Ends, y: Ends, color: str, width: float, **properties: object
) -> None:
    """A straight line, by its ends; `dash` among the properties is the line's."""
    line: Properties = {"color": color, "width": width}
    if "dash" in properties:
        line["dash"] = properties.pop("dash")
    sheet.shapes.append(
        {"name": name, "type": "line", **_corners(x, y), "line": line, **properties}
    )


def add_frame(
    sheet: Sheet, name: str, x: Ends, y: Ends, color: str, width: float, **properties: object
) -> None:
    """A rectangle around something, without a filling unless one is given."""
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
    """Plotly text at a place, without an arrow."""
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
    """Write Plotly text over a level bar whose upper edge is at `y`, at its left or right end.

    Args:
        clear: what is drawn behind goes on under the text; else it ends beside it, as the lines
            of a grid should.
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
) -> None:
    """Write a name over the left end of a level bar and more over its right end (Plotly text).

    Where one line doesn't hold both, the name stands above the other.

    Args:
        size: of what stands at the right, px.
        clear: as of `label_bar`.
    """
    fits = markup_width(name) + markup_width(said, size) + _APART <= sheet.room
    label_bar(sheet, y, name, yshift=yshift if fits else yshift + _LINE, clear=clear)
    label_bar(sheet, y, said, right=True, size=size, yshift=yshift, clear=clear)


def level_bars(
    rows: Sequence[float], lows: Sequence[float], lengths: Sequence[float], width: float
) -> Properties:
    """Level bars from `lows` on, with text inside."""
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
    """A level bar for each of some tokens, below each other.

    Args:
        texts: behind the bars; `ink` is their colour, the theme's by default.
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
    """Cells with a token in each, as upright bars.

    Args:
        corners: the middle of each cell's upper edge (y grows downwards).
        hovers: None where cells tell nothing more.
        heights: 1 each by default.
        size: of the tokens, px.
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
    """The layout of bars over bars without gaps.

    Args:
        least_size: hide the text of bars that have no room for one of so many px.
    """
    fit = {} if least_size is None else {"uniformtext": {"minsize": least_size, "mode": "hide"}}
    return {"barmode": "overlay", "bargap": 0, **fit}


def strokes(lines: Iterable[Sequence[tuple[float, float | None]]]) -> Properties:
    """Separate lines as one trace, each from point to point; to a None nothing is drawn."""
    points = [point for line in lines for point in (*line, (None, None))]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "hoverinfo": "skip",
    }


def crosses(x: Sequence[float], y: Sequence[float], theme: Theme) -> Properties:
    """Small crosses, in place of hatching."""
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
    """Texts right of level bars, whose ends are given row by row."""
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
    """A token inside a sentence: strong, in the tokens' font (Plotly text)."""
    return f'<span style="font-family:{theme.mono};font-weight:700">{text}</span>'
