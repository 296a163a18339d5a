"""A whole run as one page: its text, its figures as they were shown, its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from core.export.part import Part
from core.export.web.chart import LIGHT_AND_DARK, Chart, chart_of
from core.export.web.page import STATUS, PageLook, framed, page
from core.figures.base.paper import LIVE_WINDOW, Paper
from core.figures.base.theme import Theme

if TYPE_CHECKING:
    from pandas import DataFrame

NamedTable: TypeAlias = "tuple[str, DataFrame | None]"
"""A sentence of the page, and the table below it."""


@dataclass(frozen=True, slots=True)
class PageText:
    """Texts around a run's figures; all of them are plain.

    Args:
        settings: what the run was made with.
        tokens: the text in pieces, each with the name of its kind and the kind's colour.
        notes: stand below the figures.
    """

    title: str
    settings: str
    prompt: str
    text: str
    tokens: Sequence[tuple[str, str, str]] | None = None
    notes: Sequence[NamedTable] = ()


# What decides how many steps a figure of the page holds.
PAPER = Paper(width=LIVE_WINDOW, selection=True)


def run_page(run: PageText, parts: Sequence[Part], theme: Theme) -> bytes:
    """The page, in this theme until its reader turns it.

    Args:
        parts: the figures with what is selected in them; those not measured yet are named.
    """
    charts = [chart_of(part.drawn(), LIGHT_AND_DARK, PAPER) for part in parts if part.draw]
    text = escape(run.text) if run.tokens is None else _marked(run.tokens)
    figures = "".join(_section(chart, run.settings) for chart in charts)
    notes = "".join(_noted(run.notes))
    body = (
        f'<body class="run"><main><div class="head"><h1>{escape(run.title)}</h1>'
        '<button type="button" id="theme" hidden></button></div>'
        f'<p class="said">{escape(run.settings)}</p>'
        f"<pre><b>{escape(run.prompt)}</b>{text}</pre>{STATUS}{figures}"
        f"{notes}{_lacking([part for part in parts if part.draw is None])}</main>"
    )
    return page(run.title, body, charts, PageLook(theme))


def _section(chart: Chart, settings: str) -> str:
    """A figure with its heading; its caption where that says more than the page's head."""
    above = [f"<h2>{escape(chart.title)}</h2>"]
    if chart.subtitle:
        above.append(f'<p class="said subtitle">{escape(chart.subtitle)}</p>')
    caption = "" if chart.caption.startswith(settings) else chart.caption
    return f"<section>{framed(chart, above, caption)}</section>"


def _noted(notes: Sequence[NamedTable]) -> Iterator[str]:
    """Sentences with their tables, every cell escaped by pandas."""
    for words, frame in notes:
        yield f"<p>{escape(words)}</p>"
        if frame is not None:
            table = frame.to_html(index=False, border=0, na_rep="", float_format="{:.4g}".format)
            yield f'<div class="tables" tabindex="0">{table}</div>'


def _lacking(parts: Sequence[Part]) -> str:
    """Figures that are not on the page because they were not measured."""
    names = "; ".join(f"{part.name} ({part.needs})" for part in parts)
    return f'<p class="said">Not on this page: {escape(names)}.</p>' if parts else ""


def _marked(tokens: Sequence[tuple[str, str, str]]) -> str:
    """Pieces of text underlined by their kind, with a line that says what the kinds are."""
    kinds = {kind: color for _, kind, color in tokens}
    pieces = "".join(_piece(*token) for token in tokens)
    key = " ".join(_piece(kind.replace("_", " "), kind, color) for kind, color in kinds.items())
    return f"{pieces}\n\n{key}"


def _piece(text: str, kind: str, color: str) -> str:
    look = f"border-bottom-color:{color};background:{color}22"
    return f'<bdi title="{kind}" class="{kind}" style="{look}">{escape(text)}</bdi>'
