"""The runs that a session made on a page, to go back to."""

from __future__ import annotations

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.trace import Trace
from pages.ui import registry
from pages.ui.registry import Page
from pages.ui.run.view import View
from pages.ui.widgets import control


def menu(view: View, page: Page | None = None) -> None:
    """The runs, newest first; nothing where there is none to go back to. `page` shows them, by
    default the one of their method."""
    if len(view.runs) < 2:
        return
    labels = [_label(at, trace) for at, (trace, _) in enumerate(view.runs)]
    st.menu_button(
        "Runs",
        labels[::-1],
        key="earlier_runs",
        icon=":material/history:",
        type="tertiary",
        on_click=_back,
        args=(view, labels, page),
    )


def _label(at: int, trace: Trace) -> str:
    """Which run it is; no text of a token or a prompt, which a menu would take for markup."""
    config = trace.config
    parts = [config.method, counted(len(trace.token_ids), "token")]
    if config.can_draw:
        parts.append(f"temperature {config.shaping.temperature:g}")
    if hasattr(config, "seed"):
        parts.append(f"seed {config.seed}")
    return f"Run {nth(at)}: {', '.join(parts)}"


def _back(view: View, labels: list[str], page: Page | None = None) -> None:
    """Show a run again, with its controls."""
    chosen = st.session_state.get("earlier_runs")
    if chosen not in labels or "decode" in view.jobs:
        return
    trace, asked = view.runs[labels.index(chosen)]
    view.request = asked
    view.show(trace, "run")
    page = page or registry.page_of(trace.config.method)
    page.load_controls(trace)
    if asked is not None:
        control.load({"model": asked.model, **({"draft": asked.draft} if asked.draft else {})})
        if not page.own_prompt:
            control.load({"chat": asked.chat, "system": asked.system})
