"""Exports of the page Inside: the run, its link, and its data path for other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.subject import Subject
from core.language import N_, Message, tr
from core.traces.data_path import export
from core.traces.data_path.text import as_lines
from core.traces.data_path.types import DataPath
from pages.ui import platform, registry
from pages.ui.inside.state import InsideView
from pages.ui.run.files import link_run, save
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.widgets import style

# The figures' names and their tabs.
TABS = {
    "calls": N_("Calls over time"),
    "modules": N_("Modules"),
    "lens": N_("Logit lens"),
    "attention": N_("Attention"),
}
_STEM = "decoding-data-path"


def menu(view: InsideView, trace: Trace) -> None:
    """The menu that saves the run, and the open tab's figure; its link leads here."""
    file = partial(save.trace_file, trace)
    source = ArchiveSource(
        _STEM,
        registry.INSIDE.path,
        lambda: Subject.of_trace(trace, file()),
        lambda _: parts(view),
        link=link_run.link_to(view, trace, registry.INSIDE),
    )
    save.save(source, file, lambda: web_page(view, trace), run=True)


def parts(view: InsideView) -> list[Part]:
    """The figures of the tabs that were open at this step; the others are named."""
    at = f"step-{nth(view.selected)}"
    return [
        replace(view.figures[name], name=f"{name}-{at}")
        if name in view.figures
        else Part(name, needs=Message("open {tab} at this step first", tab=Message(tab)))
        for name, tab in TABS.items()
    ]


def web_page(view: InsideView, trace: Trace) -> bytes:
    """The run as the page of its method saves it, at the step that is looked at."""
    page, method_view = registry.page_of(trace.config.method), save.as_on_its_page(view, trace)
    made: bytes = page.saved.find().web_page(method_view, trace, style.theme())
    return made


def downloads(path: DataPath) -> None:
    """The recorded calls as files."""
    files: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        ("JSON", "json", "application/json", partial(_json, export.as_json, path)),
        ("OTLP (Jaeger)", "otlp.json", "application/json", partial(_json, export.as_otlp, path)),
        (
            "Chrome trace (Perfetto)",
            "chrome.json",
            "application/json",
            partial(_json, export.as_chrome, path),
        ),
        (tr("Text"), "txt", "text/plain", partial(_text, path)),
    )
    with st.popover(
        tr("Data path"), icon=":material/download:", type="tertiary", key=platform.key("data-path")
    ):
        for label, ending, mime, content in files:
            st.download_button(
                label,
                content,
                f"{_STEM}.{ending}",
                mime,
                key=platform.key(f"path-{ending.partition('.')[0]}"),
                icon=":material/data_object:",
                on_click="ignore",
                width="stretch",
            )


def _json(make: Callable[[DataPath], dict[str, Any]], path: DataPath) -> bytes:
    return json.dumps(make(path), ensure_ascii=False).encode("utf-8", "backslashreplace")


def _text(path: DataPath) -> bytes:
    return "\n".join(as_lines(path)).encode("utf-8", "backslashreplace")
