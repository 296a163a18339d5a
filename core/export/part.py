"""A figure for export: its drawing function, its table, and its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from ..decoding.config import MethodConfig
from ..decoding.counting import span_key
from ..figures.base.figure import Figure
from ..figures.base.labels import exact_plain
from ..figures.base.paper import Paper
from ..figures.base.theme import LIGHT, Theme

if TYPE_CHECKING:
    from pandas import DataFrame

    from .drawing.svg import SvgDrawing

FORMATS = ("svg", "pdf", "png")
# Resolution of a figure with a width in px: twice that of a standard screen.
_SCREEN_DPI = 192


@dataclass(frozen=True, slots=True)
class Part:
    """One figure of a page.

    Args:
        name: subject of the figure with its step or round, such as `candidates-step-4`.
        draw: returns the figure, in a `theme` and on a `paper`.
        data: returns its whole table, or a window of it (`first`, `columns`) if the figure has one;
            None if there is no table.
        needs: measurement that must come first; empty if the figure can be drawn.
    """

    name: str
    draw: Callable[..., go.Figure] | None = None
    data: Callable[..., DataFrame] | None = None
    needs: str = ""

    def figure(self, theme: Theme, paper: Paper) -> go.Figure:
        """Return the figure."""
        return self.drawn()(theme=theme, paper=paper)

    def table(self, figure: go.Figure) -> DataFrame:
        """Return the table of the figure, limited to the window of a long run that it shows."""
        if self.data is None:
            raise ValueError(f"{self.name} has no table")
        window = figure.layout.meta.get("window")
        if window is None:
            return self.data()
        return self.data(first=window[0], columns=window[1] - window[0])

    def drawn(self) -> Callable[..., go.Figure]:
        """Return the function that draws the figure in a theme and on a paper."""
        if self.draw is None:
            raise ValueError(f"{self.name} is not measured")
        return self.draw


def of_figure(name: str, draw: Figure[...], *of: Any, **looks: Any) -> Part:
    """Return a figure of `core.figures` with its table, both from the same arguments."""
    return Part(name, partial(draw, *of, **looks), draw.table_of(*of, **looks))


def stem(name: str, config: MethodConfig | None, words: Mapping[str, Any] | None = None) -> str:
    """Return the name of a figure's files: subject, step, round or part, method, seed.

    Args:
        name: name of the figure; with a number in it, no step is added.
        words: the figure's metadata (`layout.meta`); `shown` has its step, round or part.
    """
    shown = words.get("shown") if words else None
    if shown and not re.search(r"\d", name):
        name = "-".join([name.removesuffix("-step"), *shown])
    method = config.method if config else ""
    if name.split("-")[0] == method:  # The page has the same name.
        method = ""
    drawn = config is not None and bool(getattr(config, "draws", config.can_draw))
    seed = getattr(config, "seed", None) if drawn else None
    parts = (name, method, f"seed{seed}" if seed is not None else "")
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, parts)).lower()).strip("-")


def window_name(name: str, unit: str, first: int, last: int) -> str:
    """Return a figure's name with the part of a run that it shows, for its files.

    Args:
        first, last: index of the first `unit`, and index after the last.
    """
    return f"{name}-{span_key(unit, first, last)}"


def table_file(part: Part, paper: Paper) -> bytes:
    """Return a figure's table as CSV, with its title, its settings and the whole prompt.

    Args:
        paper: its width determines the window of a long run, and so the table.
    """
    from .table import csv_file

    figure = part.figure(LIGHT, replace(paper, printed=True, whole_prompt=True))
    meta = figure.layout.meta
    return csv_file(part.table(figure), exact_plain(f"{meta['title']} · {meta['caption']}"))


def drawing(raw: str, figure: go.Figure, name: str, paper: Paper) -> SvgDrawing:
    """Return the finished drawing for Plotly's SVG of a figure."""
    from .drawing.svg import finish

    meta = figure.layout.meta
    return finish(
        raw,
        name=name,
        title=exact_plain(meta.get("title") or name),
        alt=exact_plain(meta["alt"]),
        caption=exact_plain(meta["caption"]),
        mm=paper.mm,
    )


def encoded(drawn: SvgDrawing, form: str) -> bytes:
    """Return a drawing in one of `FORMATS`."""
    from .drawing import render

    if form == "svg":
        return drawn.encode()
    if form == "pdf":
        return render.pdf(drawn)
    return render.png(drawn, render.PRINT_DPI if drawn.scale != 1 else _SCREEN_DPI)
