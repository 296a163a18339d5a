"""Save a figure to a file without the app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import plotly.graph_objects as go

from ..decoding.errors import FigureError
from ..decoding.files import save_file
from ..figures.base.paper import Paper
from ..figures.base.theme import LIGHT, Theme
from ..language import Message
from .drawing.chrome import svgs
from .part import FORMATS, drawing, encoded, stem

Drawable: TypeAlias = go.Figure | Callable[..., go.Figure]


def save_figure(
    figure: Drawable | Sequence[Drawable],
    path: str | Path,
    *,
    paper: Paper | None = None,
    theme: Theme | None = None,
    shared: bool = False,
) -> Path:
    """Write a figure as SVG, PDF, PNG or HTML, by the path's suffix; the file includes its fonts.

    Args:
        figure: a figure, or a function that draws it in a `theme` and on a `paper`, such as
            `partial(figures.candidate_bars, step, trace)`. An HTML page of a
            function has sliders and a layout for every width, in light and dark if no `theme` is
            given. A sequence makes the panels of one figure (SVG, PDF, PNG); drawn figures must
            fit a panel.
        paper: the figure's layout in print; by default that of the screen.
        shared: write Plotly's script to a separate file beside the HTML page.

    Raises:
        FigureError: the suffix is unknown, the panels don't make one figure, or Chrome is missing.
        DecodingError: the file can't be written.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> save_figure(figures.probability_heatmap(trace), "heatmap.html").name
        'heatmap.html'
    """
    path, paper = Path(path), paper or Paper()
    form = path.suffix[1:].lower()
    if isinstance(figure, Sequence):
        _save_panels(figure, path, paper, theme or LIGHT, form)
        return path
    if form not in (*FORMATS, "html"):
        raise FigureError(
            Message(
                "A figure is saved as .svg, .pdf, .png or .html, not as {name!r}.",
                name=path.name[:60],
            )
        )
    if form == "html":
        from .web import bundle
        from .web.page import page_of

        save_file(path, page_of(figure, theme, paper, shared=shared))
        if shared:
            save_file(path.with_name(bundle.NAME), bundle.script())
        return path
    drawn = _drawn(figure, theme or LIGHT, paper)
    save_file(path, encoded(drawing(svgs([drawn])[0], drawn, stem(path.stem, None), paper), form))
    return path


def _drawn(figure: Drawable, theme: Theme, paper: Paper) -> go.Figure:
    return figure if isinstance(figure, go.Figure) else figure(theme=theme, paper=paper)


def _save_panels(
    figures: Sequence[Drawable], path: Path, paper: Paper, theme: Theme, form: str
) -> None:
    from .panels import Panels

    if form not in FORMATS:
        raise FigureError(
            Message("Panels are saved as .svg, .pdf or .png, not as {name!r}.", name=path.name[:60])
        )
    panels = Panels.of(paper, len(figures))
    drawn = [_drawn(figure, theme, panels.panel) for figure in figures]
    save_file(path, encoded(panels.drawing(svgs(drawn), drawn, stem(path.stem, None)), form))
