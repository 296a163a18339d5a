"""A figure to a file without the app."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import plotly.graph_objects as go

from core.decoding.errors import FigureError
from core.export.chrome import svgs
from core.export.part import FORMATS, drawing, encoded, stem
from core.figures.base.paper import Paper
from core.figures.base.theme import LIGHT, Theme


def save_figure(
    figure: go.Figure | Callable[..., go.Figure],
    path: str | Path,
    *,
    paper: Paper | None = None,
    theme: Theme | None = None,
    shared: bool = False,
) -> Path:
    """Write a figure as SVG, PDF, PNG or HTML, by the path's ending; its fonts are in the file.

    Args:
        figure: a figure, or what draws it in a `theme` and on a `paper`, such as
            `partial(figures.candidate_bars, step, trace)`: a page is laid out for every width then,
            in the reader's light or dark unless a theme is given, and its knobs work.
        paper: what it was laid out for, where that has a width in print.
        shared: an HTML page takes Plotly's script from a file beside it, which is written too.

    Raises:
        FigureError: the ending is another one, or there is no Chrome to draw it.
    """
    path, paper = Path(path), paper or Paper()
    form = path.suffix[1:].lower()
    if form not in (*FORMATS, "html"):
        raise FigureError(
            f"A figure is saved as .svg, .pdf, .png or .html, not as {path.name[:60]!r}."
        )
    if form == "html":
        _save_page(figure, path, paper, theme, shared=shared)
        return path
    drawn = figure if isinstance(figure, go.Figure) else figure(theme=theme or LIGHT, paper=paper)
    raw = svgs([drawn])[0]
    path.write_bytes(encoded(drawing(raw, drawn, stem(path.stem, None), paper), form))
    return path


def _save_page(
    figure: go.Figure | Callable[..., go.Figure],
    path: Path,
    paper: Paper,
    theme: Theme | None,
    *,
    shared: bool,
) -> None:
    from core.export.web import bundle
    from core.export.web.page import page_of

    path.write_bytes(page_of(figure, theme, paper, shared=shared))
    if shared:
        path.with_name(bundle.NAME).write_bytes(bundle.script())
