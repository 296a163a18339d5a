"""Exports of many runs: all traces, a table, figures, and the whole as one web page."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import figures
from core.decoding.many.types import ManyRuns
from core.export.stored import many_subject, many_tables
from core.export.stored_parts import many_parts
from core.export.table import csv_file
from core.export.web.run_page import PageText, run_page
from core.traces.many_file import many_jsonl
from pages.ui import platform
from pages.ui.many.state import example
from pages.ui.run.files import archive
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.widgets.controls import figure_choices


def menu(many: ManyRuns) -> None:
    """Draw the menu of downloads; each file is made when it is asked for."""
    kinds = (
        ("Every run's trace (JSONL)", "runs", lambda: many_jsonl(many.traces).encode(), "jsonl"),
        ("All runs (CSV)", "table", lambda: csv_file(figures.many_runs_data(many)), "csv"),
        ("Web page (HTML)", "page", lambda: web_page(many), "html"),
    )
    with st.popover("Save", icon=":material/save:", type="tertiary", key=platform.key("save-many")):
        for label, name, content, ending in kinds:
            st.download_button(
                label, content, f"many-runs.{ending}", key=platform.key(f"save_many_{name}"),
                type="tertiary", on_click="ignore", icon=":material/download:",
            )  # fmt: skip
        archive.button(
            ArchiveSource(
                "many-runs",
                "many",
                partial(many_subject, many),
                lambda _: many_parts(many),
                partial(many_tables, many),
            )
        )


def web_page(many: ManyRuns) -> bytes:
    """Return figures, tables and the verdict as one page that needs no server."""
    first = many.traces[0]
    run = PageText(
        title="Decoding Explorer: many runs",
        settings=figures.many_caption(many),
        prompt=first.rendered_prompt or first.prompt,
        text=figures.many_verdict(many),
        notes=many_tables(many),
    )
    return run_page(run, many_parts(many), figure_choices.theme())


def stored_page() -> bytes | None:
    """Return the web page of the stored grid; None if its file is missing or damaged."""
    found = example("grid")
    return web_page(found) if found else None
