"""What the page Inside gives away: the run, its link, and its data path for other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.trace import Trace
from core.export.part import Part
from core.traces.data_path import export
from core.traces.data_path.text import as_lines
from core.traces.data_path.types import DataPath
from pages.ui import registry
from pages.ui.decode.state import DecodeView
from pages.ui.inside.state import PATH, InsideView
from pages.ui.run import link_run, save
from pages.ui.run.archive import Shelf
from pages.ui.widgets import style

_STEM = "decoding-data-path"


def menu(view: InsideView, trace: Trace) -> None:
    """The menu that saves the run, and the open tab's figure; its link leads here."""
    shelf = Shelf(
        _STEM,
        PATH,
        trace,
        lambda: save.trace_file(trace),
        lambda _: [view.figure or Part("reading", needs="open a tab")],
        link=link_run.link_to(view, trace, registry.page_at(PATH)),
    )
    save.save(shelf, lambda: web_page(view, trace), run=True)


def web_page(view: InsideView, trace: Trace) -> bytes:
    """The run as the page of its method saves it, at the step that is looked at."""
    page = registry.page_of(trace.config.method)
    own = type(page.view())()
    own.show(trace, view.source)
    if isinstance(own, DecodeView):
        own.select(view.selected)
    return page.web_page(own, trace, style.theme())


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
        ("Text", "txt", "text/plain", partial(_text, path)),
    )
    with st.popover("Data path", icon=":material/download:", type="tertiary", key="data-path"):
        for label, ending, mime, content in files:
            st.download_button(
                label,
                content,
                f"{_STEM}.{ending}",
                mime,
                key=f"path-{ending.partition('.')[0]}",
                icon=":material/data_object:",
                on_click="ignore",
                width="stretch",
            )


def _json(make: Callable[[DataPath], dict[str, Any]], path: DataPath) -> bytes:
    return json.dumps(make(path), ensure_ascii=False).encode("utf-8", "backslashreplace")


def _text(path: DataPath) -> bytes:
    return "\n".join(as_lines(path)).encode("utf-8", "backslashreplace")
