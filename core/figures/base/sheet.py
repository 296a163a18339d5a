"""The sheet a figure is drawn on: what it collects, and the texts around the plotting area."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import plotly.graph_objects as go

from core.figures.base.labels import NBSP, escaped, safe_plain, text_columns
from core.figures.base.theme import Theme

Properties: TypeAlias = dict[str, object]

EDGE = 14
_TITLE_SIZE, _SUBTITLE_SIZE, _CAPTION_SIZE = 17, 12, 11
_TITLE_LINE, _SUBTITLE_LINE, _CAPTION_LINE = 24, 16, 15
# A figure's width unless it is laid out for another one, and its texts' characters; px.
_WIDTH, _TEXT_CHARACTER, _CAPTION_CHARACTER = 400, 6.2, 5.6


@dataclass(slots=True)
class Sheet:
    """Traces, shapes, annotations and layout as Plotly's own properties, in plain dicts.

    Plotly checks every property that is set on a figure, which takes tens of milliseconds a figure.
    A sheet hands all over at once, unchecked; the tests check it.

    `height` of the figure and `bottom`, its margin below the plotting area, in px, are known once
    it is laid out.
    """

    theme: Theme
    height: int = 0
    bottom: int = 0
    traces: list[Properties] = field(default_factory=list)
    shapes: list[Properties] = field(default_factory=list)
    annotations: list[Properties] = field(default_factory=list)
    layout: Properties = field(default_factory=dict)

    def figure(self) -> go.Figure:
        """The figure; the sheet is used up."""
        layout = {**self.layout, "annotations": self.annotations}
        if self.shapes:
            layout["shapes"] = self.shapes
        return go.Figure({"data": self.traces, "layout": layout}, _validate=False)


def lines_of(text: str, columns: int) -> list[str]:
    """Text broken at spaces, so that it fits a narrow figure."""
    lines: list[str] = []
    for word in filter(None, text.split(" ")):
        if lines and text_columns(f"{lines[-1]} {word}") <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def lay_out(
    theme: Theme,
    *,
    title: str,
    caption: str,
    alt: str,
    subtitle: str = "",
    plot_height: int = 300,
    left: int = 52,
    right: int = EDGE,
    above: int = 0,
    below: int = 0,
    width: int = _WIDTH,
) -> Sheet:
    """A sheet with title and subtitle above, caption below, alt text in the figure's meta.

    Args:
        title: Plotly text of at most 34 characters, which a figure 400 px wide holds in one line,
            with room at its right for the page's own buttons.
        subtitle: Plotly text; tokens in it must be escaped already.
        caption, alt: plain text; a caption may have several lines.
        plot_height: height of the plotting area, px; the figure's height follows from it.
        left, right: margins, px.
        above, below: room for ticks, axis titles and legends between the plotting area and the
            texts, px.
        width: of the figure, px; its texts are broken into lines that fit.
    """
    room = width - 2 * EDGE
    sheet, sub = Sheet(theme), lines_of(subtitle, int(room / _TEXT_CHARACTER))
    foot = _caption_lines(caption, int(room / _CAPTION_CHARACTER))
    top = EDGE + _TITLE_LINE + _SUBTITLE_LINE * len(sub) + 10 + above
    sheet.bottom = below + 10 + _CAPTION_LINE * len(foot) + EDGE - 4
    sheet.height = top + plot_height + sheet.bottom
    margin = {"l": left, "r": right, "t": top, "b": sheet.bottom, "pad": 0, "autoexpand": False}
    sheet.layout |= {
        **_look(sheet.theme),
        "title": _title(title, sheet.theme),
        "height": sheet.height,
        "margin": margin,
        "meta": {"alt": safe_plain(alt), "caption": safe_plain(caption)},
    }
    _add_text(sheet, "subtitle", sub, left, top - EDGE - _TITLE_LINE)
    _add_text(sheet, "caption", list(map(escaped, foot)), left, EDGE - 6 - sheet.bottom)
    return sheet


def _look(theme: Theme) -> Properties:
    return {
        "template": {},
        "paper_bgcolor": theme.paper,
        "plot_bgcolor": theme.paper,
        "font": {"family": theme.sans, "size": 12, "color": theme.ink},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.panel,
            "bordercolor": theme.muted,
            "font": {"family": theme.mono, "size": 12, "color": theme.ink},
            "align": "left",
            "namelength": -1,
        },
    }


def _caption_lines(caption: str, columns: int) -> list[str]:
    """The caption in lines, broken between settings, and inside one that no line holds."""
    runs = (
        f"{NBSP}· ".join(_unbroken(part, columns) for part in run.split(" · "))
        for run in caption.split("\n")
    )
    return [line for run in runs for line in lines_of(run, columns)]


def _unbroken(part: str, columns: int) -> str:
    return part if text_columns(part) > columns - 2 else part.replace(" ", NBSP)


def _title(title: str, theme: Theme) -> Properties:
    return {
        "text": f"<b>{title}</b>",
        "font": {"size": _TITLE_SIZE, "color": theme.ink},
        "xref": "container",
        "yref": "container",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"l": EDGE, "t": EDGE},
        "automargin": False,
    }


def _add_text(sheet: Sheet, name: str, lines: list[str], left: int, yshift: int) -> None:
    """Small text at the figure's left edge, `yshift` px above (or below) the plotting area."""
    y, anchor, size = (1, "top", _SUBTITLE_SIZE) if yshift > 0 else (0, "bottom", _CAPTION_SIZE)
    font: Properties = {"size": size, "color": sheet.theme.muted}
    add_lines(sheet, name, lines, left, y=y, yanchor=anchor, yshift=yshift, font=font)


def add_lines(sheet: Sheet, name: str, lines: list[str], left: int, **where: object) -> None:
    """Lines of Plotly text at the figure's left edge.

    Args:
        left: the figure's left margin, px.
        where: `y` (in the plotting area, 0 to 1), `yanchor`, `yshift` (px) and `font`.
    """
    sheet.annotations.append(
        {
            "name": name,
            "text": "<br>".join(lines),
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "xanchor": "left",
            "xshift": EDGE - left,
            "borderpad": 0,
            "borderwidth": 0,
            "showarrow": False,
            "align": "left",
            **where,
        }
    )


def plain_sentence(
    theme: Theme, sentence: str, *, title: str, caption: str, height: int = 120
) -> go.Figure:
    """A figure that says why there is nothing to draw."""
    sheet = lay_out(
        theme, title=title, caption=caption, alt=sentence, plot_height=height, left=EDGE
    )
    hidden = {"visible": False, "fixedrange": True}
    sheet.layout = {"xaxis": hidden, "yaxis": dict(hidden), **sheet.layout}
    sheet.annotations.insert(
        0,
        {
            "name": "sentence",
            "text": "<br>".join(escaped(line) for line in lines_of(sentence, 44)),
            "xref": "paper",
            "yref": "paper",
            "x": 0.5,
            "y": 0.5,
            "showarrow": False,
            "font": {"size": 13, "color": theme.muted},
        },
    )
    return sheet.figure()
