"""A figure as a journal takes it: no gridlines, no hatching, black text, axis lines with ticks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.figures.base.color import blend, contrast
from core.figures.base.paper import BODY
from core.figures.base.theme import GREY, HATCH_SIGNS, Theme
from core.figures.journal.journals import JOURNAL_TICK, Journal
from core.figures.journal.key_words import SHAPES

# Solid fill in place of hatching: so much of its lines' colour.
_FILLED = 0.5
# Text of less contrast to the paper than this is on a dark ground; a bar of less needs an outline.
_ON_DARK, _FAINT = 1.3, 1.25
# Of an axis line, px; at 6 pt for the body half a point.
_LINE = 1
_SPAN = re.compile(r'<span style="color:(#[0-9a-f]{6})([^"]*)">((?:<b>)?[^<]*)')
_SIZE = re.compile(r"font-size:([0-9.]+)px")


def fill_of(theme: Theme, ink: str, ground: str = "") -> str:
    """The solid colour that stands for a hatching with lines of a colour."""
    return blend(ground or theme.paper, ink, _FILLED)


def restyle(
    journal: Journal,
    theme: Theme,
    traces: Sequence[dict[str, Any]],
    annotations: Sequence[dict[str, Any]],
    layout: dict[str, Any],
) -> None:
    """Make a finished figure keep to the rules of a journal."""
    style = _Style(journal, theme)
    for trace in traces:
        style.solid(trace)
        style.outlined(trace)
        style.text(trace)
    for note in annotations:
        style.text(note)
    for name, properties in layout.items():
        if name.startswith(("xaxis", "yaxis")):
            style.axis(properties)
    style.text(layout)


class _Style:
    def __init__(self, journal: Journal, theme: Theme) -> None:
        self.theme = theme
        self.least, self.most = (size / journal.type_pt * BODY for size in journal.sizes)
        ends = ("#000000", "#ffffff")
        self.ink = max(ends, key=lambda end: contrast(end, self.theme.paper))
        self.bright = min(ends, key=lambda end: contrast(end, self.theme.paper))

    def axis(self, axis: Any) -> None:
        """No gridlines; a line and ticks where the axis has labels."""
        axis["showgrid"] = False
        if axis.get("visible", True) and axis.get("showticklabels", True):
            axis |= {"showline": True, "linecolor": self.ink, "linewidth": _LINE}
            axis |= {"ticks": "outside", "ticklen": JOURNAL_TICK, "tickwidth": _LINE}
            axis["tickcolor"] = self.ink

    def solid(self, trace: dict[str, Any]) -> None:
        """Fill what is hatched."""
        marker: Any = trace.get("marker")
        pattern = marker.get("pattern") if isinstance(marker, dict) else None
        if pattern is None:
            return
        shapes, ground = pattern["shape"], pattern.get("bgcolor", marker["color"])
        filled = fill_of(self.theme, pattern["fgcolor"], ground)
        color: Any = filled
        if isinstance(shapes, list):
            color = [filled if shape else ground for shape in shapes]
        plain = {name: value for name, value in marker.items() if name != "pattern"}
        trace["marker"] = {**plain, "color": color}

    def outlined(self, trace: dict[str, Any]) -> None:
        """Draw a line around bars that are hardly darker than the paper."""
        marker: Any = trace.get("marker")
        if trace["type"] != "bar" or not isinstance(marker, dict):
            return
        line = marker.get("line", {})
        parts = [marker.get("color"), line.get("width", 0), line.get("color", self.ink)]
        many = [len(part) for part in parts if isinstance(part, list)]
        bars = list(
            zip(
                *(
                    (list(part) if isinstance(part, list) else [part] * max(many, default=1))
                    for part in parts
                ),
                strict=True,
            )
        )
        bare = [self._faint(bar[0]) and (not bar[1] or bar[2] == self.theme.paper) for bar in bars]
        if any(bare):
            widths = [_LINE if faint else bar[1] for faint, bar in zip(bare, bars, strict=True)]
            inks = [
                self.theme.muted if faint else bar[2] for faint, bar in zip(bare, bars, strict=True)
            ]
            trace["marker"] = {
                **marker,
                "line": (
                    {"width": widths, "color": inks} if many else {"width": 1, "color": inks[0]}
                ),
            }

    def _faint(self, color: object) -> bool:
        solid = isinstance(color, str) and color.startswith("#")
        return solid and contrast(str(color), self.theme.paper) < _FAINT

    def text(self, own: Any) -> None:
        """Make all text below black, white on a dark ground, and of the journal's sizes."""
        for name, value in own.items():
            if name in ("hoverlabel", "hovertext", "meta", "customdata"):
                continue
            if name.endswith("font") and isinstance(value, dict):
                own[name] = self._font(value)
            elif name in ("text", "ticktext"):
                own[name] = (
                    [self.markup(item) for item in value]
                    if isinstance(value, list | tuple)
                    else self.markup(value)
                )
            elif isinstance(value, dict):
                self.text(value)

    def _font(self, font: dict[str, Any]) -> dict[str, Any]:
        changed = {"size": self._size, "color": self._ink}
        return {
            name: value
            if name not in changed
            else [changed[name](item) for item in value]
            if isinstance(value, list)
            else changed[name](value)
            for name, value in font.items()
        }

    def _size(self, size: Any) -> float:
        return float(min(max(size, self.least), self.most))

    def _ink(self, color: Any) -> str:
        if not str(color).startswith("#"):
            return str(color)
        return self.bright if contrast(color, self.theme.paper) < _ON_DARK else self.ink

    def markup(self, text: Any) -> Any:
        """A sign keeps its colour, as the mark that it stands for; words don't."""
        if isinstance(text, dict):  # Of an axis title.
            self.text(text)
        if not isinstance(text, str):
            return text
        sized = _SIZE.sub(lambda found: f"font-size:{self._size(float(found[1])):g}px", text)
        return _SPAN.sub(self._span, sized)

    def _span(self, found: re.Match[str]) -> str:
        color, more, words = found.groups()
        if words in HATCH_SIGNS:
            color = color if color in GREY.patterns else fill_of(self.theme, color)
            words = "■"
        elif words.removeprefix("<b>") not in SHAPES:
            color = self._ink(color)
        return f'<span style="color:{color}{more}">{words}'
