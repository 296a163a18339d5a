"""One question's answers side by side, each opened on the page of its method."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from core.decoding.counting import counted
from core.decoding.record.trace import Timings, Trace
from core.evaluation.plan.types import Evaluation, EvaluationRow, Way
from core.evaluation.questions.types import Question
from core.figures.base.labels import table_text
from core.language import tr
from pages.ui import registry
from pages.ui.evaluate import work
from pages.ui.evaluate.controls import choose
from pages.ui.evaluate.state import EvaluateView
from pages.ui.run.changed import controls_of
from pages.ui.run.display import bar
from pages.ui.run.files import link_run
from pages.ui.widgets import style, table
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import row_of

# px: on a phone the three that matter are in view.
_WIDE = {"way": 215, "verdict": 120, "answer": 480, "tokens": 70}
_PHONE = {"way": 105, "verdict": 85, "answer": 170, "tokens": 70}
_TWO_LINES, _FOUR_LINES = 66, 90
_OPEN, _SHUT = "⟦", "⟧"


def draw(view: EvaluateView, evaluation: Evaluation) -> None:
    """The chosen question's answers in every way, its references, and the inputs."""
    questions = {question.key: question for question in evaluation.plan.questions.questions}
    names = {
        key: f"{at}. {entry.question}" for at, (key, entry) in enumerate(questions.items(), start=1)
    }
    key = choose("asked_question", tr("Question"), names)
    question = questions[key]
    st.text(tr("Right: {answers}", answers=" | ".join(question.answers)))
    rows = [row for row in evaluation.rows if row.question == key]
    narrow = style.narrow()
    table.draw(
        "answers",
        {
            "way": [table_text(row.way) for row in rows],
            "verdict": [_verdict(row) for row in rows],
            "answer": [table_text(row.failure or marked(row)) for row in rows],
            "tokens": [row.tokens for row in rows],
        },
        numbers={"tokens": "%d"},
        widths=_PHONE if narrow else _WIDE,
        row_height=_FOUR_LINES if narrow else _TWO_LINES,
    )
    if any(row.leaks for row in rows):
        st.text(tr("Template text stands between {open} and {shut}.", open=_OPEN, shut=_SHUT))
    _links(evaluation, question, rows)
    _inputs(view, evaluation, question)


def _verdict(row: EvaluationRow) -> str:
    if row.failure:
        return "failed"
    return tr("right ({counted})", counted=row.counted) if row.right else tr("wrong")


def marked(row: EvaluationRow) -> str:
    """All that was generated, template text between signs."""
    text = row.text
    for start, end, _ in reversed(row.leaks):
        text = f"{text[:start]}{_OPEN}{text[start:end]}{_SHUT}{text[end:]}"
    return text


def _links(evaluation: Evaluation, question: Question, rows: list[EvaluationRow]) -> None:
    """A link for each way's first answer to the page that makes it again, or why there is none."""
    shut: list[str] = []
    with st.container(key="answer-links", horizontal=True, gap="small"):
        for row in rows:
            way = evaluation.plan.way(row.way)
            if row.sample:
                continue
            if url := address_of(way, question):
                title = tr(registry.page_of(way.config.method).title)
                st.link_button(
                    f"{title}: {link.literal(table_text(way.name))}",
                    url,
                    type="tertiary",
                    icon=":material/open_in_new:",
                )
            else:
                shut.append(
                    tr(
                        "No page opens “{way}”: {reason}",
                        way=table_text(way.name),
                        reason=_why_shut(way),
                    )
                )
    for sentence in shut:
        st.text(sentence)


def _why_shut(way: Way) -> str:
    """Why no page runs a way."""
    if not registry.page_of(way.config.method).links_runs:
        return tr("none runs its method.")
    return tr("its draft reads the question in another form than its target.")


def address_of(way: Way, question: Question) -> str:
    """The address of the page that runs the way's first sample; empty where none can."""
    page = registry.page_of(way.config.method)
    if not page.links_runs or way.draft_use_chat_template not in (
        None,
        way.use_chat_template,
    ):
        return ""
    page.load_controls.find()  # Declares the page's controls.
    controls = controls_of(page)
    chat = way.use_chat_template
    before = f"{way.system}\n\n" if way.system and not chat else ""
    prompt = question.asked if chat else f"{before}{question.asked}\n"
    run = Trace(
        model_id=way.model,
        prompt=prompt,
        prompt_ids=(),
        config=way.config_of(0),
        steps=(),
        token_ids=(),
        text="",
        finish_reason="length",
        timings=Timings(0.0, 0.0, 0.0),
    )
    values = controls.control_values(run) | {"model": way.model, "prompt": prompt, "chat": chat}
    values |= {"system": way.system if chat else ""}
    if controls.draft and way.draft:
        values[controls.draft] = way.draft
    rows = controls.by_key
    if controls.draft:
        rows[controls.draft] = row_of(controls.draft)
    parameters = {
        key: link_run.parameter(row, values[key]) for key, row in rows.items() if key in values
    }
    query = {key: word for key, word in parameters.items() if word is not None}
    return f"/{page.path}?{urlencode({**query, 'run': '1'})}"


def _inputs(view: EvaluateView, evaluation: Evaluation, question: Question) -> None:
    """Draw the models' inputs, after the visitor has asked for them."""
    bar.measure(
        view,
        "render",
        tr("Show the inputs"),
        lambda: view.begin("render", work.render(evaluation.plan, question)),
        tr("The question as each model reads it, special tokens written out, and as ids."),
        row="inputs-row",
        key="show_inputs",
        icon="visibility",
    )
    if view.rendered is None or view.rendered[0] != (evaluation.plan.ways, question):
        return
    for entry in view.rendered[1]:
        st.text(entry.way)
        for sentence in entry.warnings:
            st.text(sentence)
        if entry.failure:
            st.text(entry.failure)
            continue
        st.code(entry.target, language=None, wrap_lines=True)
        st.text(
            f"{tr(counted(len(entry.target_ids), 'token'))}: {' '.join(map(str, entry.target_ids))}"
        )
        if entry.draft and entry.draft_ids != entry.target_ids:
            st.text(tr("The draft reads"))
            st.code(entry.draft, language=None, wrap_lines=True)
