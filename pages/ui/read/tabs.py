"""Tabs of the page Read: a token, the whole text, a word, the model's own, two models, pins."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.counting import counted
from core.decoding.errors import DecodingError
from core.decoding.reading.types import most_word_tokens, text_of
from core.decoding.record.trace import Trace
from core.figures.base.grid import columns_for
from core.figures.base.paper import Paper
from core.figures.read.words import reading_caption
from core.language import N_, tr
from pages.ui.decode.parts import HEATMAP, UNCERTAINTY
from pages.ui.read import controls, marks, parts, work
from pages.ui.read.state import ReadView
from pages.ui.resources import models
from pages.ui.run import cost
from pages.ui.run.display import bar, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure, pager, pins
from pages.ui.run.jobs import Job
from pages.ui.run.view import select_step
from pages.ui.widgets import style
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import in_words, value

_ROWS = 6


def draw(view: ReadView, trace: Trace, redraw: Callable[[], None]) -> None:
    """Draw the tabs; only the open one is worked out.

    Args:
        redraw: ends a callback that selects another token.
    """
    select = partial(select_step, view, redraw)
    panel.tabs(
        "read_look",
        {
            "uncertainty": Tab(N_("Uncertainty"), partial(_uncertainty, view, trace, select)),
            "candidates": Tab(N_("This token"), partial(_candidates, view, trace)),
            "heatmap": Tab(N_("Likeliest tokens"), partial(_heatmap, view, trace, select)),
            "word": Tab(N_("A word"), partial(_word, view, trace, select)),
            "own": Tab(N_("The model's own"), partial(_own_text, view, trace)),
            "models": Tab(N_("Two models"), partial(_models, view, trace)),
            "watermark": Tab(N_("Watermark"), partial(_watermark, view, trace, select)),
            "pins": Tab(N_("Pinned tokens"), partial(pins.draw, view, trace, select)),
        },
    )
    panel.made_by(reading_caption(trace))
    panel.watch(view)


def _uncertainty(view: ReadView, trace: Trace, select: Callable[[list[object]], None]) -> None:
    part = UNCERTAINTY.part(view, trace)
    figure.chart(part, (view.number, view.selected), on_click=select, across=True)


def _candidates(view: ReadView, trace: Trace) -> None:
    figure.chart(parts.CANDIDATES.part(view, trace), (view.number, view.selected), across=True)


def _heatmap(view: ReadView, trace: Trace, select: Callable[[list[object]], None]) -> None:
    width = style.figure_width()
    columns = columns_for(width)
    width = min(width, style.BESIDE)
    window = pager.of_span(view.first, columns, len(view.steps), len(trace.prompt_ids))
    pager.draw(view, "first", window, "positions")
    figure.chart(
        HEATMAP.part(
            view, trace, first=view.first, columns=columns, rows=_ROWS, paper=Paper(width)
        ),
        (view.number, view.first, view.selected, width),
        on_click=select,
    )


def _word(view: ReadView, trace: Trace, select: Callable[[list[object]], None]) -> None:
    control.draw("word")
    word = str(value("word")).strip()
    if not word:
        st.text(tr("Write a word to follow its probability along the text."))
        return

    def make(job: Job) -> Any:
        return work.follow(job, trace, word)

    key, tokens = (view.number, word), most_word_tokens(trace, word)
    where = trace.model_id
    if _measured(view, "word", key, where, N_("Follow the word"), make, tokens) is not None:
        depends = (view.number, view.selected, word)
        part, before = parts.WORD.part(view, trace), len(trace.prompt_ids)

        def select_place(custom: list[object]) -> None:
            if custom and isinstance(custom[0], int | float):
                select([custom[0] - before])

        figure.chart(part, depends, on_click=select_place, across=True)


def _own_text(view: ReadView, trace: Trace) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        control.draw("opening")
        control.draw("writer", "own_axis", label_visibility="collapsed")
    opening, writer, axis = int(value("opening")), str(value("writer")), str(value("own_axis"))
    count = len(trace.prompt_ids) + len(trace.token_ids)
    opening = min(opening, count - 1)
    config = controls.writing_config(count - opening)

    def make(job: Job) -> tuple[int, str, Trace]:
        return opening, config.words, work.write_own(job, trace, opening, config)

    key, tokens = (view.number, opening, config), cost.tokens_of(config)
    made = _measured(view, "own", key, trace.model_id, N_("Let the model write"), make, tokens)
    if made is None:
        return
    figure.chart(
        parts.OWN.part(view, trace), (view.number, opening, writer, config, axis), across=True
    )
    st.text(tr("The model's own text: {written}", written=text_of(made[2])))


def _watermark(view: ReadView, trace: Trace, select: Callable[[list[object]], None]) -> None:
    marks.draw_controls()
    try:
        shaping = marks.shaping()
    except DecodingError as error:
        st.text(tr(in_words(error)))
        return
    key, make = (view.number, shaping), marks.read(trace, shaping)
    if _measured(view, "marked", key, trace.model_id, N_("Look for the watermark"), make) is None:
        return
    part = parts.MARKED.part(view, trace)
    figure.chart(part, (view.number, view.selected, shaping), on_click=select, across=True)


def _models(view: ReadView, trace: Trace) -> None:
    control.draw("other_model")
    other = str(value("other_model")).strip()

    def make(job: Job) -> Any:
        return work.compare(job, trace, other)

    where = trace.model_id if other in controls.NUMBER_TYPES else other
    key = (view.number, other)
    if _measured(view, "divergence", key, where, N_("Compare the models"), make) is not None:
        figure.chart(parts.DIVERGENCE.part(view, trace), (view.number, other), across=True)


def _measured(
    view: ReadView,
    name: str,
    key: tuple[Hashable, ...],
    where: str,
    label: str,
    make: Callable[[Job], Any],
    tokens: int = 0,
) -> Any:
    """Return the result of keyed work; until it is there, draw the row that starts or stops it.

    A press alone starts work that loads a model which isn't built in or that computes more tokens
    than a link may ask for.

    Args:
        where: the model that the work loads beside the text's own.
        tokens: number of tokens that the work computes at most.
    """
    if view.trace is None or not view.may_load(str(value("model"))):
        st.text(tr("Choose this text's model in the sidebar first."))
        return None
    job, is_of_key = view.jobs.get(name), view.pending_key.get(name) == key
    if job is not None and job.stopping.is_set() and is_of_key:
        view.choices[name] = key, False
    chosen, starts = view.choices.get(name, (None, False))
    if chosen != key:
        built_in = all(map(models.is_embedded, (view.trace.model_id, where)))
        starts = built_in and not cost.awaited(tokens, label)
    if starts:
        result, ready = view.soon(name, key, make)
        if ready:
            return result
    elif not is_of_key:
        view.drop(name)

    def begin() -> None:
        view.drop(name)
        view.choices[name] = key, True

    note = tr("Up to {tokens}.", tokens=counted(tokens, "token")) if tokens else ""
    bar.measure(
        view,
        name,
        label,
        begin,
        view.error(name) or note,
        row=f"row-{name}",
        key=f"confirm-{name}",
        icon="play_arrow",
    )
    return None
