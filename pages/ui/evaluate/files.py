"""Exports of the Evaluate page: the plan, all runs as a table, and the whole as one web page."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from io import BytesIO

import streamlit as st

from core.evaluation.plan.files import file_of
from core.evaluation.plan.plan_file import write_plan
from core.evaluation.plan.statistics import frame_of
from core.evaluation.plan.types import Evaluation
from core.export.stored import evaluation_subject, evaluation_tables
from core.export.stored_parts import evaluation_parts
from core.export.table import csv_file
from core.export.web.run_page import PageText, run_page
from core.figures.base.labels import plain_name
from core.figures.evaluate.words import caption
from core.language import tr
from pages.ui.evaluate.state import lesson
from pages.ui.run.files import archive
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.widgets.controls import figure_choices


def draw(evaluation: Evaluation) -> None:
    """The menu of downloads; each is made when it is asked for."""
    set_name = evaluation.plan.questions.name.split(",")[0]
    kinds = [
        (tr("All rows, to go on with (JSONL)"), "rows", lambda: file_of(evaluation), "jsonl"),
        (tr("All runs (CSV)"), "runs", lambda: csv_file(frame_of(evaluation)), "csv"),
        (tr("Web page (HTML)"), "page", lambda: web_page(evaluation), "html"),
    ]
    if find_spec("pyarrow") is not None:
        kinds.insert(
            2, (tr("All runs (Parquet)"), "parquet", lambda: parquet(evaluation), "parquet")
        )
    st.download_button(
        tr("Plan (YAML)"), lambda: write_plan(evaluation.plan, set_name), "plan.yaml",
        key="save_plan", type="tertiary", on_click="ignore", icon=":material/download:",
    )  # fmt: skip
    with st.popover(tr("Save"), icon=":material/save:", key="save-evaluation"):
        for label, name, content, ending in kinds:
            st.download_button(
                label, content, f"evaluation.{ending}", key=f"save_{name}", type="tertiary",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
        archive.button(
            ArchiveSource(
                "evaluation",
                "evaluate",
                partial(evaluation_subject, evaluation),
                lambda _: evaluation_parts(evaluation),
                partial(evaluation_tables, evaluation),
            )
        )


def parquet(evaluation: Evaluation) -> bytes:
    """All runs as a Parquet file."""
    file = BytesIO()
    frame_of(evaluation).to_parquet(file, index=False)
    return file.getvalue()


def web_page(evaluation: Evaluation) -> bytes:
    """Figures, paired differences and every reply as one page that needs no server."""
    replies = frame_of(evaluation)[
        ["asked", "expected", "way", "right", "counted", "text", "failure"]
    ]
    title = tr("Evaluation: {name}", name=evaluation.plan.questions.name)
    progress = tr(
        "{rows:,} of {total:,} runs", rows=len(evaluation.rows), total=evaluation.plan.total
    )
    run = PageText(
        title=plain_name(title, 120),
        settings=caption(evaluation),
        prompt="",
        text=progress,
        notes=[*evaluation_tables(evaluation), (tr("Every run."), replies)],
    )
    return run_page(run, evaluation_parts(evaluation), figure_choices.theme())


def stored_page() -> bytes | None:
    """Return the web page of a stored evaluation; None if its file can't be read."""
    evaluation = lesson("leak")
    return web_page(evaluation) if evaluation else None
