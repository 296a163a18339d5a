"""A button that starts a measurement, or stops it, with its progress beside it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import controls
from pages.ui.running import Job
from pages.ui.spec_state import SpecView


def button(
    view: SpecView,
    name: str,
    words: str,
    start: Callable[[], Job],
    hint: str = "",
    *,
    options: Callable[[], None] | None = None,
) -> None:
    """One row: options, the button, and how far it is.

    Args:
        name: of the measurement in the view, and of its work.
        hint: stands beside the button before anything was measured.
    """
    job = view.active(name)
    may_load = view.may_load(str(controls.value("model")))
    with st.container(
        key=f"measure-{name}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if options is not None:
            options()
        st.button(
            "Stop" if job else words,
            key=f"start-{name}",
            icon=":material/stop:" if job else ":material/timer:",
            disabled=bool(job and job.stopping.is_set())
            or (not job and (not may_load or view.measuring())),
            on_click=job.stop if job else _begin,
            args=() if job else (view, name, start),
        )
        st.text(_note(view, name, hint, may_load), width="stretch")


def _begin(view: SpecView, name: str, start: Callable[[], Job]) -> None:
    if not view.measuring():
        view.jobs[name] = start()


def _note(view: SpecView, name: str, hint: str, may_load: bool) -> str:
    job = view.jobs.get(name)
    if job is not None:
        return f"{job.stage}…" if job.active else job.error
    if not may_load:
        return "Choose this run's models first."
    return hint if getattr(view, name) is None else ""
