"""The problems that are swept and voted on: the visitor's own file, else the project's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.decoding.errors import DecodingError
from core.evaluation.questions.problems import THINKING_SYSTEM, read_problems
from core.evaluation.types import ProblemSet
from core.figures.reasoning.words import problems_words
from core.language import tr
from pages.ui import platform
from pages.ui.platform.uploaded import content_of
from pages.ui.reasoning import problem
from pages.ui.reasoning.problem import chains
from pages.ui.reasoning.state import ReasonView
from pages.ui.widgets.controls.control import in_words, value


def draw(view: ReasonView) -> None:
    """Draw the upload of a problem file and its result."""
    with st.popover(
        _source_words(view), icon=":material/upload_file:", key=platform.key("own-problems")
    ):
        _upload(view)


def _source_words(view: ReasonView) -> str:
    if view.uploaded is None:
        return tr("My problems")
    return tr("{problems} of my own", problems=len(view.uploaded.problems))


def _upload(view: ReasonView) -> None:
    st.markdown(
        tr(
            "CSV with the columns `question` and `answer`, or JSONL with these two fields. "
            "Answers are numbers. A link can't carry the file."
        )
    )
    st.file_uploader(
        tr("Problem file"),
        type=["csv", "jsonl", "json", "txt"],
        key=platform.key("problem_file"),
        max_upload_size=1,
        on_change=_uploaded,
        args=(view,),
    )
    if view.refused:
        with st.container(key=platform.key("refused")):
            st.text(tr(view.refused))
    elif view.uploaded is not None:
        st.text(problems_words(view.uploaded))


def _uploaded(view: ReasonView) -> None:
    upload = st.session_state.get(platform.key("problem_file"))
    view.refused, view.uploaded = "", None
    if upload is None:
        return
    try:
        content = content_of(upload)
        view.uploaded = read_problems(content, upload.name, THINKING_SYSTEM)
    except DecodingError as error:
        view.refused = in_words(error)


def problems(
    view: ReasonView, count: int, steps: tuple[int, ...] = problem.ALL_STEPS
) -> ProblemSet:
    """The uploaded problems, else so many of the project's own, of these difficulties."""
    if view.uploaded is None:
        return chains(count, int(value("problem_seed")), steps)
    uploaded = view.uploaded
    return (
        uploaded
        if len(uploaded.problems) <= count
        else replace(uploaded, problems=uploaded.problems[:count])
    )
