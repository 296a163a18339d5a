"""A figure to a file without the app."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go

from core.decoding.errors import FigureError
from core.export.chrome import svgs
from core.export.part import FORMATS, drawing, encoded, stem
from core.figures.base.paper import Paper


def save_figure(figure: go.Figure, path: str | Path, *, paper: Paper | None = None) -> Path:
    """Write a figure as SVG, PDF or PNG, by the path's ending; its fonts are in the file.

    Args:
        paper: what it was laid out for, where that has a width in print.

    Raises:
        FigureError: the ending is another one, or there is no Chrome to draw it.
    """
    path = Path(path)
    form = path.suffix[1:].lower()
    if form not in FORMATS:
        raise FigureError(f"A figure is saved as .svg, .pdf or .png, not as {path.name[:60]!r}.")
    raw = svgs([figure])[0]
    path.write_bytes(encoded(drawing(raw, figure, stem(path.stem, None), paper or Paper()), form))
    return path
