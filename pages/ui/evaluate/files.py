"""What leaves the Evaluate page: the plan, all runs as a table, and the whole as one web page."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

import streamlit as st

from core import figures
from core.evaluation.best_of import of_way
from core.evaluation.plan.files import file_of
from core.evaluation.plan.plan_file import write_plan
from core.evaluation.plan.statistics import all_paired, failures, frame_of
from core.evaluation.plan.types import Evaluation
from core.export.part import Part, of_figure
from core.export.subject import VERSION, Subject
from core.export.table import csv_file
from core.export.web.run_page import PageText, run_page
from core.figures.base.labels import plain_name
from core.figures.evaluate.words import caption
from pages.ui.run import archive
from pages.ui.run.archive import Shelf
from pages.ui.shell import figure_choices

if TYPE_CHECKING:
    import pandas as pd


def draw(evaluation: Evaluation) -> None:
    """The menu of downloads; each is made when it is asked for."""
    own = evaluation.plan.questions.name.split(",")[0]
    kinds = [
        ("All rows, to go on with (JSONL)", "rows", lambda: file_of(evaluation), "jsonl"),
        ("All runs (CSV)", "runs", lambda: csv_file(frame_of(evaluation)), "csv"),
        ("Web page (HTML)", "page", lambda: web_page(evaluation), "html"),
    ]
    if find_spec("pyarrow") is not None:
        kinds.insert(2, ("All runs (Parquet)", "parquet", lambda: parquet(evaluation), "parquet"))
    st.download_button(
        "Plan (YAML)", lambda: write_plan(evaluation.plan, own), "plan.yaml", key="save_plan",
        type="tertiary", on_click="ignore", icon=":material/download:",
    )  # fmt: skip
    with st.popover("Save", icon=":material/save:", key="save-evaluation"):
        for label, name, content, ending in kinds:
            st.download_button(
                label, content, f"evaluation.{ending}", key=f"save_{name}", type="tertiary",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
        archive.button(
            Shelf(
                "evaluation",
                "evaluate",
                partial(subject, evaluation),
                lambda _: parts(evaluation),
                partial(tables, evaluation),
            )
        )


def subject(evaluation: Evaluation) -> Subject:
    """The evaluation with its plan and all its rows."""
    plan = evaluation.plan
    settings = {
        "app": VERSION,
        "models": plan.models,
        "model_revisions": dict(plan.revisions),
        "questions": plan.questions.name,
        "metrics": plan.metrics,
        "ways": [{**asdict(way), "method": way.config.method} for way in plan.ways],
    }
    own = write_plan(plan, plan.questions.name.split(",")[0])
    files = {"plan.yaml": own.encode(), "evaluation.jsonl": file_of(evaluation)}
    models = "; ".join(f"{name}, revision {plain_name(own)}" for name, own in plan.revisions)
    return Subject(caption(evaluation), settings, files, models=models)


def tables(evaluation: Evaluation) -> list[tuple[str, pd.DataFrame]]:
    """What each way gained and cost, and against the first one."""
    import pandas as pd

    found = [("What each way gained and cost.", figures.evaluate_accuracy_data(evaluation))]
    for title, records in (
        ("Every way against the first one.", all_paired(evaluation)),
        ("Ways that failed.", failures(evaluation)),
    ):
        if records:
            found.append((title, pd.DataFrame(records)))
    return found


def parquet(evaluation: Evaluation) -> bytes:
    """All runs as a Parquet file."""
    file = BytesIO()
    frame_of(evaluation).to_parquet(file, index=False)
    return file.getvalue()


def parts(evaluation: Evaluation) -> list[Part]:
    """The page's figures with their tables."""
    found = [
        of_figure("accuracy-by-way", figures.evaluate_accuracy, evaluation),
        of_figure("agreement", figures.evaluate_agreement, evaluation),
    ]
    for at, way in enumerate(evaluation.plan.ways, start=1):
        if way.samples > 1:
            sampled, said = of_way(evaluation, way.name), plain_name(way.name, 60)
            found.append(of_figure(f"best-of-{at}", figures.best_of, sampled, caption=said))
    return found


def web_page(evaluation: Evaluation) -> bytes:
    """Figures, paired differences and every reply as one page that needs no server."""
    replies = frame_of(evaluation)[
        ["asked", "expected", "way", "right", "counted", "text", "failure"]
    ]
    title = f"Evaluation: {evaluation.plan.questions.name}"
    said = f"{len(evaluation.rows):,} of {evaluation.plan.total:,} runs"
    run = PageText(
        title=plain_name(title, 120),
        settings=caption(evaluation),
        prompt="",
        text=said,
        notes=[*tables(evaluation), ("Every run.", replies)],
    )
    return run_page(run, parts(evaluation), figure_choices.theme())
