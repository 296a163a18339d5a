"""Journal style of a figure: no gridlines, no hatching, black text, axis lines with ticks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..base.color import blend, contrast
from ..base.paper import BODY
from ..base.theme import GREY, HATCH_SIGNS, Theme
from .journals import JOURNAL_TICK, Journal
from .key_words import SHAPES

# Share of the lines' colour in the solid fill that replaces hatching.
_FILLED = 0.5
# Text with less contrast to the paper lies on a dark background; a bar with less needs an outline.
_ON_DARK, _FAINT = 1.3, 1.25
# Width of an axis line, px; half a point with body text of 6 pt.
_LINE = 1
_SPAN = re.compile(r'<span style="color:(#[0-9a-f]{6})([^"]*)">((?:<b>)?[^<]*)')
_SIZE = re.compile(r"font-size:([0-9.]+)px")


def fill_of(theme: Theme, ink: str, ground: str = "") -> str:
    """Return the solid colour that replaces hatching with lines of a colour."""
    return blend(ground or theme.paper, ink, _FILLED)


def restyle(
    journal: Journal,
    theme: Theme,
    traces: Sequence[dict[str, Any]],
    annotations: Sequence[dict[str, Any]],
    layout: dict[str, Any],
) -> None:
    """Change a finished figure to a journal's style."""
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
        """Remove gridlines; add a line and ticks if the axis has labels."""
        axis["showgrid"] = False
        if axis.get("visible", True) and axis.get("showticklabels", True):
            axis |= {"showline": True, "linecolor": self.ink, "linewidth": _LINE}
            axis |= {"ticks": "outside", "ticklen": JOURNAL_TICK, "tickwidth": _LINE}
            axis["tickcolor"] = self.ink

    def solid(self, trace: dict[str, Any]) -> None:
        """Replace hatching by a solid fill."""
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
        """Make all text below black (white on a dark background) and of the journal's sizes."""
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
        """Keep the colours of signs, which stand for marks, and remove those of words."""
        if isinstance(text, dict):  # An axis title.
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
