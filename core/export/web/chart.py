"""Figure data for a web page: layouts for several widths and themes, equal parts stored once."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import plotly.graph_objects as go

from ...figures.base.labels import exact_plain
from ...figures.base.measure import plain_of
from ...figures.base.paper import Paper
from ...figures.base.sheet import plain_values
from ...figures.base.theme import DARK, LIGHT, Theme
from ..drawing.font_files import BOLD, MONO, REGULAR, SANS
from ..drawing.fonts import fonts_for

DrawFigure: TypeAlias = Callable[..., go.Figure]
# A page draws the widest layout that fits its frame, stretched; if none fits, the first layout with
# a scroll bar.
WIDTHS = (344.0, 480.0, 640.0, 900.0)
LIGHT_AND_DARK = (LIGHT, DARK)
# Length below which a value is shorter than a reference to it.
_SHORT = 20


@dataclass(frozen=True, slots=True)
class Layout:
    """A figure laid out for a width (px) in a theme; an empty theme name means every theme."""

    width: float
    theme: str
    figure: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of a page with its plain texts.

    Args:
        bare: True if the page, not the figure, shows title and caption.
    """

    layouts: tuple[Layout, ...]
    title: str
    subtitle: str
    caption: str
    alt: str
    bare: bool = True

    @property
    def knobs(self) -> dict[str, Any] | None:
        """Data for the figure's sliders; None if it has none."""
        return (self.layouts[0].figure["layout"].get("meta") or {}).get("knobs")


def chart_of(
    draw: DrawFigure | go.Figure,
    themes: Sequence[Theme] = LIGHT_AND_DARK,
    paper: Paper | None = None,
) -> Chart:
    """Return a figure for a page; a drawn figure keeps its own width.

    Args:
        draw: returns the figure in a `theme` and on a `paper`.
        paper: determines whether the selection is drawn.
    """
    if isinstance(draw, go.Figure):
        layouts = [Layout(float(draw.layout.width or 400), "", plain_values(draw))]
        bare = not draw.layout.title.text
    else:
        base = replace(paper or Paper(), mm=None, printed=True, title=False, caption=False)
        base = replace(base, transparent=True, live=True)
        layouts, bare = list(_laid_out(draw, themes, base)), True
    meta = layouts[0].figure["layout"].get("meta") or {}
    title, subtitle, caption, alt = (
        exact_plain(meta.get(name) or "") for name in ("title", "subtitle", "caption", "alt")
    )
    return Chart(tuple(layouts), title, subtitle, caption, alt, bare)


def _laid_out(draw: DrawFigure, themes: Sequence[Theme], base: Paper) -> Iterator[Layout]:
    """Yield the layouts for all widths and themes that the figure supports."""
    for width in WIDTHS:
        for theme in themes:
            figure = plain_values(draw(theme=theme, paper=replace(base, width=width)))
            if figure["layout"]["meta"].get("least", 0) <= width:
                yield Layout(width, theme.name, figure)


def packed(charts: Sequence[Chart]) -> str:
    """Return the layouts of a page's figures: deduplicated JSON, gzip, base64."""
    pool = _Pool()
    text = json.dumps(
        {
            "pool": pool.items,
            "charts": [
                [[layout.width, layout.theme, pool.put(layout.figure)] for layout in chart.layouts]
                for chart in charts
            ],
        },
        separators=(",", ":"),
    )
    return b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


class _Pool:
    """Values by their JSON; in `items`, a value inside another one is stored as `{"$": index}`."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._places: dict[str, int] = {}

    def put(self, value: Any) -> Any:
        """Return the value with each larger part replaced by a reference."""
        if isinstance(value, dict):
            value = {name: self.put(part) for name, part in value.items()}
        elif isinstance(value, list):
            value = [self.put(part) for part in value]
        text = json.dumps(value, separators=(",", ":"))
        if len(text) < _SHORT:
            return value
        if text not in self._places:
            self._places[text] = len(self.items)
            self.items.append(value)
        return {"$": self._places[text]}


def font_rules(charts: Sequence[Chart]) -> str:
    """Return `@font-face` rules for the figures; the reader's fonts draw missing characters."""
    characters = {
        c for chart in charts for layout in chart.layouts for c in _characters(layout.figure)
    }
    return fonts_for(
        dict.fromkeys(((SANS, REGULAR), (SANS, BOLD), (MONO, REGULAR)), characters), boxes=False
    ).css()


def _characters(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from plain_of(value)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _characters(part)
    elif isinstance(value, list):
        for part in value:
            yield from _characters(part)
