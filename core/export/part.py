"""A figure on its way out: what draws it, its table, and its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from core.decoding.config import MethodConfig
from core.decoding.counting import span_key
from core.figures.base.figure import Figure
from core.figures.base.labels import exact_plain
from core.figures.base.paper import Paper
from core.figures.base.theme import LIGHT, Theme

if TYPE_CHECKING:
    from pandas import DataFrame

    from core.export.svg import SvgDrawing

FORMATS = ("svg", "pdf", "png")
# Of a figure whose width is in px: twice the pixels of a plain screen.
_SCREEN_DPI = 192


@dataclass(frozen=True, slots=True)
class Part:
    """One figure of a page.

    Args:
        name: what it shows, with its step or round, such as `candidates-step-4`.
        draw: makes it, in a `theme` and on a `paper`.
        data: its whole table, or a window of it (`first`, `columns`) for a figure that shows one;
            None where it has none.
        needs: what has to be measured before it can be drawn; empty where it can.
    """

    name: str
    draw: Callable[..., go.Figure] | None = None
    data: Callable[..., DataFrame] | None = None
    needs: str = ""

    def figure(self, theme: Theme, paper: Paper) -> go.Figure:
        """The figure."""
        return self.drawn()(theme=theme, paper=paper)

    def table(self, figure: go.Figure) -> DataFrame:
        """The table of what this figure of the part shows: of a long run the same window."""
        if self.data is None:
            raise ValueError(f"{self.name} has no table")
        window = figure.layout.meta.get("window")
        if window is None:
            return self.data()
        return self.data(first=window[0], columns=window[1] - window[0])

    def drawn(self) -> Callable[..., go.Figure]:
        """Function that draws it in a theme and on a paper."""
        if self.draw is None:
            raise ValueError(f"{self.name} is not measured")
        return self.draw


def of_figure(name: str, draw: Figure[...], *of: Any, **looks: Any) -> Part:
    """A figure of `core.figures` with its table; both take what they know of the arguments."""
    return Part(name, partial(draw, *of, **looks), draw.table_of(*of, **looks))


def stem(name: str, config: MethodConfig | None, words: Mapping[str, Any] | None = None) -> str:
    """The name of a figure's files: what it shows, its step, round or part, the method, the seed.

    Args:
        name: one that has a number says the step itself.
        words: the figure's own (`layout.meta`); `shown` has its step, round or part.
    """
    shown = words.get("shown") if words else None
    if shown and not re.search(r"\d", name):
        name = "-".join([name.removesuffix("-step"), *shown])
    method = config.method if config else ""
    if name.split("-")[0] == method:  # It is the page's name too.
        method = ""
    drawn = config is not None and bool(getattr(config, "draws", config.can_draw))
    seed = getattr(config, "seed", None) if drawn else None
    parts = (name, method, f"seed{seed}" if seed is not None else "")
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, parts)).lower()).strip("-")


def window_name(name: str, unit: str, first: int, last: int) -> str:
    """A figure's name with the part of a run that it shows, as its files have it.

    Args:
        first, last: indices of the first `unit`, and behind the last.
    """
    return f"{name}-{span_key(unit, first, last)}"


def table_file(part: Part, paper: Paper) -> bytes:
    """A figure's table by itself (CSV), with what made it: title, settings and the whole prompt.

    Args:
        paper: decides which window of a long run the figure shows, and so its table.
    """
    from core.export.table import csv_file

    figure = part.figure(LIGHT, replace(paper, printed=True, whole_prompt=True))
    meta = figure.layout.meta
    return csv_file(part.table(figure), exact_plain(f"{meta['title']} · {meta['caption']}"))


def drawing(raw: str, figure: go.Figure, name: str, paper: Paper) -> SvgDrawing:
    """Plotly's SVG of a figure, finished."""
    from core.export.svg import finish

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
    """A drawing as one of `FORMATS`."""
    from core.export import render

    if form == "svg":
        return drawn.encode()
    if form == "pdf":
        return render.pdf(drawn)
    return render.png(drawn, render.PRINT_DPI if drawn.scale != 1 else _SCREEN_DPI)
