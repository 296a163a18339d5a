"""The figures of the page Read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core import figures
from core.decoding.reading.types import text_tokens
from core.decoding.record.trace import Trace
from core.figures.base.grid import wide_columns
from core.figures.base.paper import Paper
from core.figures.base.window import even_span
from core.figures.read.lines import TokenLine
from core.language import N_, tr
from pages.ui.decode.parts import HEATMAP, MOST_FIGURES, UNCERTAINTY
from pages.ui.read.state import ReadView
from pages.ui.run.figures.pins import PINS
from pages.ui.run.parts import FigureWindow, PagePart, selected_step, windows_of
from pages.ui.widgets.controls.control import value


def _windows(trace: Trace, paper: Paper) -> list[FigureWindow]:
    count = len(trace.prompt_ids) + len(trace.token_ids)
    across = even_span(count, wide_columns(paper.width))
    return windows_of(range(0, max(count, 1), across)[:MOST_FIGURES], count)


def _favourites(view: ReadView, trace: Trace) -> Mapping[str, Any]:
    return {"trace": trace, "selected": view.selected + len(trace.prompt_ids)}


def _candidates(view: ReadView, trace: Trace) -> Mapping[str, Any] | None:
    return None if view.step is None else {"step": view.step, "trace": trace, "reads": True}


def _own_text(view: ReadView, trace: Trace) -> Mapping[str, Any] | None:
    made = view.result("own")
    if made is None:
        return None
    opening, writer, written = made
    return {
        "texts": (
            TokenLine(tr("the text"), tuple(text_tokens(trace))),
            TokenLine(tr("the model's, {writer}", writer=writer), tuple(text_tokens(written))),
        ),
        "quantity": str(value("own_axis")),
        "opening": min(opening, len(trace.prompt_ids) + len(trace.token_ids)),
        "caption": figures.reading_caption(trace),
    }


def _word(view: ReadView, trace: Trace) -> Mapping[str, Any] | None:
    word = view.result("word")
    return None if word is None else {"word": word, "trace": trace, "selected": view.selected}


def _divergence(view: ReadView, trace: Trace) -> Mapping[str, Any] | None:
    divergence = view.result("divergence")
    if divergence is None:
        return None
    against = tr("against {name}", name=divergence.names[1])
    caption = f"{figures.reading_caption(trace)} · {against}"
    return {"divergence": divergence, "caption": caption}


def _marked(view: ReadView, _: Trace) -> Mapping[str, Any] | None:
    result = view.result("marked")
    if result is None:
        return None
    marked, opening = result
    return {"trace": marked, "opening": opening, "selected": view.selected}


FAVOURITES = PagePart(
    "favourites", figures.reading_favourites, _favourites, windows=_windows, unit="token"
)
CANDIDATES = PagePart("candidates", figures.candidate_bars, _candidates, where=selected_step)
WORD = PagePart("word", figures.word_line, _word, N_("open A word first"))
OWN = PagePart("own-text", figures.surprisal_lines, _own_text, N_("open The model's own first"))
DIVERGENCE = PagePart(
    "two-models", figures.model_divergence, _divergence, N_("open Two models first")
)
MARKED = PagePart("watermark", figures.watermark, _marked, N_("open Watermark first"))
ALL = (FAVOURITES, CANDIDATES, UNCERTAINTY, HEATMAP, WORD, OWN, DIVERGENCE, MARKED, PINS)
