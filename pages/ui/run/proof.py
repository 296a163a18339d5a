"""The proof badge: what was checked, what was measured, and a harder check on demand."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.decoding.methods import method_of
from core.decoding.trace import Check, Trace
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.view import View
from pages.ui.widgets import style
from pages.ui.widgets.control import value
from pages.ui.widgets.figure import source
from pages.ui.widgets.render_clock import drawn_at

_list = st.components.v2.component(
    "decoding_explorer.checks",
    html="<ul></ul>",
    css=source("run/proof.css"),
    js=source("run/proof.js"),
)

_BUTTON: Any = {"key": "check_model", "icon": ":material/model_training:"}


def badge(view: View, trace: Trace) -> None:
    """The outcome in three words; opens the list of checks."""
    label, icon, tone = _outcome(view, trace)
    with (
        st.container(key=f"proof-{tone}", width="content"),
        st.popover(label, icon=icon, type="tertiary", key="proof"),
    ):
        _opened(view, trace)


def _outcome(view: View, trace: Trace) -> tuple[str, str, str]:
    total = len(trace.checks)
    passed = sum(check.passed for check in trace.checks)
    if not total:
        label = "Checking" if view.active("check") else "Not checked"
        return label, ":material/pending:", "open"
    if passed == total:
        return f"Proved: {passed} of {total} checks", ":material/verified:", "good"
    return f"Not proved: {passed} of {total} checks", ":material/error:", "bad"


def _opened(view: View, trace: Trace) -> None:
    st.markdown(
        "**The proof.** Every number is checked against the rest of the run, and on demand "
        "against the model."
    )
    if trace.checks:
        # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
        rows = tuple(_row(check) for check in trace.checks)
        data = {"checks": rows, "theme": style.theme().name, "drawn": drawn_at()}
        _list(key="checks", data=data)
    _against_model(view, trace)


def _row(check: Check) -> dict[str, object]:
    sign = "≤" if check.passed else ">"
    return {
        "passed": check.passed,
        "name": check.name,
        "numbers": f"{check.value:.2g} {sign} {check.tolerance:.2g}",
        "detail": check.detail,
    }


def _against_model(view: View, trace: Trace) -> None:
    may_load = view.may_load(str(value("model")))
    if job := view.active("check"):
        st.fragment(_under_way, run_every=jobs.POLL_SECONDS)(job)
    else:
        st.button(
            "Check against the model",
            disabled=not may_load,
            on_click=lambda: view.begin("check", jobs.check_trace(trace, with_model=True)),
            **_BUTTON,
        )
    st.caption(
        method_of(trace.config).against_model
        if may_load
        else "Choose this run's model in the sidebar first."
    )
    if error := view.failures.get("check"):
        st.text(error)


def _under_way(job: Job) -> None:
    job.watch()
    st.button(f"{job.stage}…", disabled=True, **_BUTTON)
