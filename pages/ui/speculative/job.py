"""A button that starts a measurement, or stops it, with its progress beside it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.decode import controls
from pages.ui.run.jobs import Job
from pages.ui.speculative.state import SpecView

POLL_SECONDS = 0.4


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
    with st.container(
        key=f"measure-{name}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if options is not None:
            options()
        if view.active(name):
            st.fragment(_under_way, run_every=POLL_SECONDS)(view, name)
        else:
            _start_button(view, name, words, start, hint)


def _under_way(view: SpecView, name: str) -> None:
    """Stop, and how far it is; the page's watch sees the end."""
    job = view.jobs.get(name)
    if job is None:
        return
    job.watch()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Stopping" if job.stopping.is_set() else "Stop",
            key=f"stop-{name}",
            icon=":material/stop:",
            disabled=job.stopping.is_set(),
            on_click=job.stop,
        )
        st.text(f"{job.stage}…", width="stretch")


def _start_button(
    view: SpecView, name: str, words: str, start: Callable[[], Job], hint: str
) -> None:
    may_load = view.may_load(str(controls.value("model")))
    st.button(
        words,
        key=f"start-{name}",
        icon=":material/timer:",
        disabled=not may_load or view.measuring(),
        on_click=_begin,
        args=(view, name, start),
    )
    st.text(_note(view, name, hint, may_load), width="stretch")


def _begin(view: SpecView, name: str, start: Callable[[], Job]) -> None:
    if not view.measuring():
        view.jobs[name] = start()


def _note(view: SpecView, name: str, hint: str, may_load: bool) -> str:
    job = view.jobs.get(name)
    if job is not None:
        return job.error
    if not may_load:
        return "Choose this run's models first."
    return hint if getattr(view, name) is None else ""
