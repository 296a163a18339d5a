"""A lesson's worksheet as PDF: the browser draws its figures, the server typesets it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from core.language import tr
from core.lessons.types import Lesson
from pages.ui import platform
from pages.ui.run.figures import export
from pages.ui.run.figures.export import DrawTask, ExportState
from pages.ui.widgets.controls.options import resend

_KEY, _LESSON = "worksheet-bar", "worksheet_lesson"
_component = export.exporter(
    "worksheet",
    html='<div class="export"><div class="row"><button type="button" data-act="pdf">'
    'Worksheet (PDF)</button></div><p class="choices"></p><p role="status"></p></div>',
)


def draw(lessons: Sequence[Lesson]) -> None:
    """Draw the choice of a lesson and the button of its worksheet."""
    with st.expander(tr("Print a worksheet"), icon=":material/print:"):
        st.markdown(
            tr(
                "The steps and questions of a lesson on paper, with boxes to tick, room "
                "to write, and the answers on the last page."
            )
        )
        titles = {lesson.name: tr(lesson.title) for lesson in lessons}
        resend(_LESSON)
        chosen = st.selectbox(
            tr("Lesson"), list(titles), format_func=titles.__getitem__, key=_LESSON
        )
        platform.part(_button)(next(each for each in lessons if each.name == chosen))


def _button(lesson: Lesson) -> None:
    state = ExportState.of("worksheet")
    _component(
        key=_KEY,
        data={**state.data(), "choices": ""},
        on_asked_change=lambda: state.attempt(lambda: _begin(state, lesson)),
        on_drawn_change=lambda: state.take(st.session_state[_KEY].drawn),
    )


def _begin(state: ExportState, lesson: Lesson) -> None:
    from core.export.worksheet.lesson import worksheet_figures

    _next(state, lesson, worksheet_figures(lesson), [])


def _next(state: ExportState, lesson: Lesson, figures: list[go.Figure], raws: list[str]) -> None:
    """Request the next figure from the browser, or save the worksheet after the last one."""
    if len(raws) < len(figures):
        take = partial(_take, state, lesson, figures, raws)
        state.task = DrawTask(figures[len(raws)], take)
        return
    from core.export.worksheet.lesson import lesson_worksheet

    state.hand_over(f"worksheet-{lesson.name}.pdf", lesson_worksheet(lesson, figures, raws))


def _take(
    state: ExportState,
    lesson: Lesson,
    figures: list[go.Figure],
    raws: list[str],
    _: go.Figure,
    raw: str,
) -> None:
    _next(state, lesson, figures, [*raws, raw])
