"""The sheet that a figure is drawn on: what it collects, and its key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import plotly.graph_objects as go

from core.figures.base.measure import wrapped_markup
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.theme import Theme
from core.figures.journal.key_words import told
from core.figures.journal.style import restyle

Properties: TypeAlias = dict[str, Any]

EDGE = 14
_KEY_SIZE, _KEY_LINE = 11, 16


class SheetFigure(go.Figure):  # type: ignore[misc]
    """A figure of plain values that becomes Plotly's objects when somebody asks for one of them.

    A page sends the values as they are: the objects would take most of a figure's time.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.pop("_values", None)
        if values is None:
            raise AttributeError(name)
        go.Figure.__init__(self, values, _validate=False)
        return getattr(self, name)


@dataclass(slots=True)
class Sheet:
    """Traces, shapes, annotations and layout as Plotly's own properties, in plain dicts.

    Plotly checks every property that is set on a figure, which takes tens of milliseconds a figure.
    A sheet hands all over at once, unchecked; the tests check it.

    Args:
        plot_height: height of the plotting area, px.
        key: lines below the plotting area that explain colours and signs, as Plotly text.
        key_offset: px between the plotting area and the key.
        keys: the lines of the key and what a journal's caption explains besides.
    """

    theme: Theme
    paper: Paper = SCREEN
    plot_height: int = 0
    key: Sequence[str] = ()
    key_offset: int = 8
    traces: list[Properties] = field(default_factory=list)
    shapes: list[Properties] = field(default_factory=list)
    annotations: list[Properties] = field(default_factory=list)
    layout: Properties = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)

    @property
    def room(self) -> float:
        """Width of the plotting area, px."""
        return float(self.paper.width - self.layout["margin"]["l"] - self.layout["margin"]["r"])

    def explain(self, *entries: str) -> None:
        """Add entries to a journal's caption that no key of the figure has."""
        self.keys += entries

    def add_lines(self, name: str, lines: Sequence[str], **where: object) -> None:
        """Write lines of Plotly text at the figure's left edge.

        Args:
            where: `y` (in the plotting area, 0 to 1), `yanchor`, `yshift` (px) and `font`.
        """
        self.annotations.append(
            {
                "name": name,
                "text": "<br>".join(lines),
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "xanchor": "left",
                "xshift": EDGE - self.layout["margin"]["l"],
                "borderpad": 0,
                "borderwidth": 0,
                "showarrow": False,
                "align": "left",
                **where,
            }
        )

    def add_key(self) -> None:
        """Write the key; where it needs more lines than it has, the figure grows."""
        room = self.paper.width - 2 * EDGE
        drawn = [part for line in self.key for part in wrapped_markup(line, room, _KEY_SIZE)]
        more = (len(drawn) - len(self.key)) * _KEY_LINE
        self.layout["height"] += more
        self.layout["margin"]["b"] += more
        for note in self.annotations:
            if note.get("name") == "caption":
                note["yshift"] -= more
        self.add_lines(
            "key",
            drawn,
            y=0,
            yanchor="top",
            yshift=-self.key_offset,
            font={"size": _KEY_SIZE, "color": self.theme.ink},
        )
        self.keys += self.key
        self.key = ()

    def figure(self) -> go.Figure:
        """Return the figure; the sheet is used up."""
        if self.key:
            self.add_key()
        if self.paper.journal:
            # As notes, for the colours that they are drawn in.
            keys: list[Properties] = [{"text": line} for line in self.keys]
            restyle(
                self.paper.journal, self.theme, self.traces, [*self.annotations, *keys], self.layout
            )
            self.layout["meta"] |= told(
                self.layout["meta"], [str(note["text"]) for note in keys], self.theme
            )
        elif self.theme.patterns:
            self.traces = [patterned(trace, self.theme) for trace in self.traces]
        shapes = {"shapes": self.shapes} if self.shapes else {}
        return SheetFigure(
            {
                "data": self.traces,
                "layout": {**self.layout, "annotations": self.annotations, **shapes},
            }
        )


def patterned(trace: Properties, theme: Theme) -> Properties:
    """A trace of bars with the pattern of each colour that has one in the theme."""
    marker = trace.get("marker")
    if trace["type"] != "bar" or not isinstance(marker, dict) or "pattern" in marker:
        return trace
    colors = marker.get("color")
    many = list(map(str, colors)) if isinstance(colors, list) else [str(colors)]
    shapes = [theme.patterns.get(color, "") for color in many]
    if not any(shapes):
        return trace
    pattern: Properties = {"size": 6, "solidity": 0.2}
    if isinstance(colors, list):
        # Plotly takes the ground from the bar's own colour in this mode alone.
        pattern |= {"shape": shapes, "fillmode": "overlay", "fgopacity": 0.34}
    else:
        pattern |= {
            "shape": shapes[0],
            "fillmode": "replace",
            "bgcolor": colors,
            "fgcolor": theme.pattern_ink(many[0]),
        }
    return {**trace, "marker": {**marker, "pattern": pattern}}


def plain_values(figure: go.Figure) -> dict[str, Any]:
    """Data and layout in dicts, lists, text and numbers; what is no finite number is None."""
    values = vars(figure).get("_values")
    if values is not None:
        return {"data": _plain(values["data"]), "layout": _plain(values["layout"])}
    # `to_dict` would copy all of it first, which takes as long again.
    return {"data": _plain(figure._data), "layout": _plain(figure._layout)}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    # Of numpy or pandas.
    return value.tolist() if hasattr(value, "tolist") else value
