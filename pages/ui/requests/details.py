"""Draw the parts of a request: its body, effective settings, prompt and data path."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.by_engine.told import told_of
from core.decoding.counting import counted, duration
from core.decoding.methods import config_to_dict
from core.language import N_, tr, trn
from core.server.api.history import Record
from core.traces.data_path.types import DataPath
from pages.ui.hosting import endpoint
from pages.ui.run.display import panel
from pages.ui.run.display.panel import Tab

# Calls within calls that are written; the files hold all.
_DEPTH = 5
# Measured on the embedded model, 40 tokens.
_NO_PATH = N_(
    "The functions that this request went through were not recorded. While "
    "the switch is on, those of every new request are; it takes about 1.6 "
    "times as long then."
)


def draw(record: Record, choice: int) -> None:
    """The tabs below the run.

    Args:
        choice: whose settings are shown; negative before there are any.
    """
    panel.tabs(
        "request-look",
        {
            "settings": Tab(N_("Settings"), partial(_settings, record, choice)),
            "prompt": Tab(N_("Prompt"), partial(_prompt, record, choice)),
            "path": Tab(N_("Data path"), partial(_path, record)),
        },
        linked=False,
    )


def _settings(record: Record, choice: int) -> None:
    sent, used = st.columns(2)
    with sent:
        st.subheader(tr("As it was sent"), anchor=False)
        if record.request_id:
            st.text(f"x-request-id: {record.request_id}")
        _json(dict(record.body), "content")
    with used:
        st.subheader(tr("As it was understood"), anchor=False)
        if choice >= 0:
            _json(config_to_dict(record.configs[choice]), 360)
            trace = record.traces[choice] if choice < len(record.traces) else None
            if trace is not None and (told := told_of(trace.method_record)) is not None:
                st.text(tr("Its server’s own speculation: {told}", told=told.words))
        else:
            st.text(tr("No run of it has begun: its settings are not known."))


def _json(value: Any, height: Any) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    st.code(text, language="json", wrap_lines=True, height=height)


def _prompt(record: Record, choice: int) -> None:
    if not record.traces:
        st.text(tr("The prompt is here once a run has ended."))
        return
    trace = record.traces[min(choice, len(record.traces) - 1)]
    ids = trace.prompt_ids
    st.subheader(tr("As the model saw it"), anchor=False)
    st.code(trace.rendered_prompt or trace.prompt, language=None, wrap_lines=True)
    st.subheader(trn("Its {count} token id", "Its {count} token ids", len(ids)), anchor=False)
    st.code(", ".join(map(str, ids)), language=None, wrap_lines=True)


def _path(record: Record) -> None:
    service = endpoint.service()
    st.toggle(
        tr("Record the data path of the next requests"),
        value=service.watches(record.owner),
        key="watch_path",
        on_change=lambda: service.watch(record.owner, bool(st.session_state["watch_path"])),
    )
    if record.path is None:
        st.text(_NO_PATH)
        return
    _calls(record.path, f"request-{record.number}")


def _calls(path: DataPath, stem: str) -> None:
    from core.traces.data_path import export
    from core.traces.data_path.text import as_lines

    st.subheader(tr("What ran, with what went in and came out"), anchor=False)
    count = counted(sum(1 for _ in path.walk()), "call")
    with st.container(key="path-files", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(
            tr(
                "{calls} in {seconds}, recording included",
                calls=count,
                seconds=duration(path.seconds),
            ),
            width="stretch",
        )
        _file("JSON", stem, lambda: export.as_json(path))
        _file(tr("Chrome trace"), f"{stem}-chrome", lambda: export.as_chrome(path))
        _file("OpenTelemetry", f"{stem}-otlp", lambda: export.as_otlp(path))
    st.code("\n".join(as_lines(path, _DEPTH)), language=None, height=480)


def _file(label: str, stem: str, content: Callable[[], dict[str, Any]]) -> None:
    st.download_button(
        label,
        lambda: json.dumps(content(), ensure_ascii=False).encode(),
        f"{stem}.json",
        "application/json",
        key=f"path-{stem}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )
