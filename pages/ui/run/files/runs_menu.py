"""Save menu of several runs of one prompt: traces, a table, figures, a web page, a link."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.many.types import ManyRuns
from core.export.stored import many_subject, many_tables
from core.export.stored_parts import many_parts
from core.export.table import csv_file
from core.export.web.runs_page import runs_page
from core.language import tr
from core.traces.many_file import many_jsonl
from pages.ui import platform
from pages.ui.run.files import archive, save
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.widgets.controls import figure_choices


def draw(many: ManyRuns, page: str) -> None:
    """Draw the menu of downloads; each file is made when it is asked for.

    Args:
        page: name of the page, which begins the names of the files.
    """
    name = f"{page}-runs"
    kinds = (
        (
            tr("Every run's trace (JSONL)"),
            "runs",
            lambda: many_jsonl(many.traces).encode(),
            "jsonl",
        ),
        (tr("All runs (CSV)"), "table", lambda: csv_file(many_tables(many)[0][1]), "csv"),
        (tr("Web page (HTML)"), "page", lambda: runs_page(many, figure_choices.theme()), "html"),
    )
    with st.popover(
        tr("Save"), icon=":material/save:", type="tertiary", key=platform.key(f"save-{page}")
    ):
        for label, kind, content, ending in kinds:
            st.download_button(
                label, content, f"{name}.{ending}", key=platform.key(f"save_{page}_{kind}"),
                type="tertiary", on_click="ignore", icon=":material/download:",
            )  # fmt: skip
        archive.button(
            ArchiveSource(
                name,
                page,
                partial(many_subject, many),
                lambda _: many_parts(many),
                partial(many_tables, many),
            )
        )
        save.draw_link(None)
