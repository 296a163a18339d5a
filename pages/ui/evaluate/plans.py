"""One's own plan and questions: uploaded files, and what came of them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.decoding.counting import counted
from core.decoding.errors import DecodingError
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.plan_file import read_plan
from core.evaluation.questions.read import read_questions
from core.language import N_, tr
from pages.ui.evaluate.controls import OWN
from pages.ui.evaluate.state import EvaluateView
from pages.ui.platform.uploaded import content_of
from pages.ui.widgets.controls.control import in_words, value

_WORDS = N_(
    "A plan is a YAML file: `questions: own:mixed` (or `own:facts`, "
    "`own:sums`, `own:lists`) and a list of `ways`; those that name no "
    "`model` take the sidebar's. Save a stored plan and change it. Questions "
    "of your own: CSV, JSONL or JSON with `question`, `answer` and "
    "`aliases`, or a SQuAD or GSM8K file as it is."
)


def draw(view: EvaluateView) -> None:
    """Draw the uploads of plan, question and result files."""
    with st.popover(tr("Plan file"), icon=":material/upload_file:", key="own-plan"):
        st.markdown(tr(_WORDS))
        for key, label, types in (
            ("plan_file", tr("Plan"), ["yaml", "yml", "txt"]),
            ("questions_file", tr("Questions"), ["csv", "jsonl", "json", "txt"]),
            ("rows_file", tr("Rows that were saved or run by the command line"), ["jsonl"]),
        ):
            changed = _reopened if key == "rows_file" else _uploaded
            st.file_uploader(
                label, type=types, key=key, max_upload_size=5, on_change=changed, args=(view,)
            )
        if view.refused:
            with st.container(key="refused"):
                st.text(tr(view.refused))
        elif view.plan is not None:
            plan = view.plan
            ways, questions = len(plan.ways), len(plan.questions.questions)
            sizes = (ways, "way"), (questions, "question"), (plan.total, "run")
            st.text(tr(", ").join(tr(counted(*size)) for size in sizes))


def _reopened(view: EvaluateView) -> None:
    """Look at rows that were kept; those that are missing can be run."""
    upload = st.session_state.get("rows_file")
    if not upload:
        return
    view.refused = ""
    try:
        evaluation = read_evaluation(content_of(upload))
        view.plan = replace(evaluation.plan, revisions=())
        view.made[OWN] = evaluation
        view.version += 1
        st.session_state["evaluation"] = OWN
    except DecodingError as error:
        view.refused = in_words(error)


def _uploaded(view: EvaluateView) -> None:
    view.refused, view.plan = "", None
    plan_file, questions_file = (
        st.session_state.get(key) for key in ("plan_file", "questions_file")
    )
    try:
        view.questions = (
            read_questions(content_of(questions_file), questions_file.name)
            if questions_file
            else None
        )
        if plan_file:
            view.plan = read_plan(content_of(plan_file), view.questions, str(value("model")))
            st.session_state["evaluation"] = OWN
    except DecodingError as error:
        view.refused = in_words(error)
