"""Web page of a whole run: its text, its figures as shown in the app, its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from ...figures.base.labels import head
from ...figures.base.paper import LIVE_WINDOW, Paper
from ...figures.base.theme import Theme
from ...language import tr
from ..part import Part
from .chart import LIGHT_AND_DARK, Chart, chart_of
from .page import PageLook, framed, page, status

if TYPE_CHECKING:
    from pandas import DataFrame

NamedTable: TypeAlias = "tuple[str, DataFrame | None]"
"""A sentence of the page, and the table below it."""


@dataclass(frozen=True, slots=True)
class PageText:
    """Texts of a run's page; all are plain.

    Args:
        settings: the settings of the run.
        tokens: the text in pieces, each with the name and the colour of its kind.
        notes: sentences and tables below the figures.
    """

    title: str
    settings: str
    prompt: str
    text: str
    tokens: Sequence[tuple[str, str, str]] | None = None
    notes: Sequence[NamedTable] = ()


# The width determines how many steps a figure of the page holds.
PAPER = Paper(width=LIVE_WINDOW, selection=True)


def run_page(run: PageText, parts: Sequence[Part], theme: Theme) -> bytes:
    """Return the page, in this theme until the reader switches it.

    Args:
        parts: the figures with their selection; figures that are not measured yet are listed.
    """
    charts = [chart_of(part.drawn(), LIGHT_AND_DARK, PAPER) for part in parts if part.draw]
    text = escape(run.text) if run.tokens is None else _marked(run.tokens)
    figures = "".join(_section(chart, run.settings) for chart in charts)
    notes = "".join(_noted(run.notes))
    body = (
        f'<body class="run"><main><div class="head"><h1>{escape(run.title)}</h1>'
        '<button type="button" id="theme" hidden></button></div>'
        f'<p class="said">{escape(run.settings)}</p>'
        f"<pre><b>{escape(run.prompt)}</b>{text}</pre>{status()}{figures}"
        f"{notes}{_lacking([part for part in parts if part.draw is None])}</main>"
    )
    return page(run.title, body, charts, PageLook(theme))


def _section(chart: Chart, settings: str) -> str:
    """Return a figure's HTML with its heading, and its caption unless the page's head has it."""
    above = [f"<h2>{escape(chart.title)}</h2>"]
    if chart.subtitle:
        above.append(f'<p class="said subtitle">{escape(chart.subtitle)}</p>')
    caption = "" if chart.caption.startswith(settings) else chart.caption
    return f"<section>{framed(chart, above, caption)}</section>"


def _noted(notes: Sequence[NamedTable]) -> Iterator[str]:
    """Yield the HTML of sentences with their tables; pandas escapes every cell."""
    for words, frame in notes:
        yield f"<p>{escape(tr(words))}</p>"
        if frame is not None:
            named = frame.rename(columns=lambda name: head(str(name)))
            table = named.to_html(index=False, border=0, na_rep="", float_format="{:.4g}".format)
            yield f'<div class="tables" tabindex="0">{table}</div>'


def _lacking(parts: Sequence[Part]) -> str:
    """Return a sentence on figures that are missing because they were not measured; else ""."""
    if not parts:
        return ""
    names = "; ".join(f"{part.name} ({tr(part.needs)})" for part in parts)
    words = tr("Not on this page: {figures}.", figures=names)
    return f'<p class="said">{escape(words)}</p>'


def _marked(tokens: Sequence[tuple[str, str, str]]) -> str:
    """Return the HTML of the text, its pieces underlined by kind, with a legend of the kinds."""
    kinds = {kind: color for _, kind, color in tokens}
    pieces = "".join(_piece(*token) for token in tokens)
    key = " ".join(_piece(tr(kind.replace("_", " ")), kind, color) for kind, color in kinds.items())
    return f"{pieces}\n\n{key}"


def _piece(text: str, kind: str, color: str) -> str:
    look = f"border-bottom-color:{color};background:{color}22"
    return f'<bdi title="{kind}" class="{kind}" style="{look}">{escape(text)}</bdi>'
