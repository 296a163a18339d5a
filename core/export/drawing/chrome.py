"""Draw Plotly's SVG of a figure without the app, with kaleido and Chrome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import plotly.graph_objects as go

from ...decoding.errors import FigureError
from ...figures.base.fonts import font_face
from ...installation import pip_command
from ...language import current
from .font_files import FAMILIES, OWN, REGULAR, SIGNS, TRANSLATED

NO_CHROME = (
    "A figure is drawn by Plotly in a browser: install kaleido "
    f"({pip_command('figures')}) and Chrome or Chromium, or use Export on a page of the app."
)


def svgs(figures: Sequence[go.Figure]) -> list[str]:
    """Return each figure as Plotly's SVG, with the project's own fonts.

    Raises:
        FigureError: kaleido or Chrome is missing.
    """
    try:
        import kaleido
        from choreographer.errors import ChromeNotFoundError
    except ImportError as error:
        raise FigureError(NO_CHROME) from error
    logging.getLogger("kaleido").setLevel(logging.ERROR)
    page = kaleido.PageGenerator(mathjax=False)
    files = [(family, weight, file) for (family, weight), file in OWN.items()]
    files.append(("Decoding Signs", REGULAR, SIGNS))
    files += [
        (FAMILIES[language], weight, file)
        for (language, weight), file in TRANSLATED.items()
        if language == current()
    ]
    rules = "".join(font_face(f, w, path.read_bytes()) for f, w, path in files)
    loads = ",".join(f"document.fonts.load(\"{w} 12px '{f}'\")" for f, w, _ in files)
    page.header += f"<style>{rules}</style><script>Promise.all([{loads}])</script>"
    try:
        # In a new thread: a notebook already runs an event loop in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, _drawn(kaleido, page, figures)).result()
    except ChromeNotFoundError as error:
        raise FigureError(NO_CHROME) from error


async def _drawn(kaleido: object, page: object, figures: Sequence[go.Figure]) -> list[str]:
    async with kaleido.Kaleido(n=1, page_generator=page) as browser:  # type: ignore[attr-defined]
        return [
            (await browser.calc_fig(figure, opts={"format": "svg"})).decode() for figure in figures
        ]
