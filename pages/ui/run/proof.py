"""The proof badge: what was checked, what was measured, and a harder check on demand."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.decoding.check import Verdict, verdict
from core.decoding.methods import method_of
from core.decoding.trace import Check, Trace
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.view import View
from pages.ui.shell import fragments
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

_LOOKS: dict[Verdict, tuple[str, str]] = {
    "Consistent": ("check_circle", "fair"),
    "Proved by the model": ("verified", "good"),
    "Not proved": ("error", "bad"),
}
# What no check can tell of a run, whatever it finds.
_UNPROVABLE = "The times are as the run recorded them: no check can measure them again."
_MEANINGS: dict[Verdict, str] = {
    "Consistent": (
        "Every number agrees with the others and with the settings. Whether they are the model's "
        f"own, only the model can tell. {_UNPROVABLE}"
    ),
    "Proved by the model": (
        "Every number agrees with the others and the settings, and the model gives them again. "
        f"{_UNPROVABLE}"
    ),
    "Not proved": "A check failed: something in this run is not what its settings make of it.",
}
_BUTTON: Any = {"key": "check_model", "icon": ":material/model_training:"}


def badge(view: View, trace: Trace) -> None:
    """The outcome in a few words; opens the list of checks."""
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
    found = verdict(trace.checks)
    icon, tone = _LOOKS[found]
    return f"{found}: {passed} of {total} checks", f":material/{icon}:", tone


def _opened(view: View, trace: Trace) -> None:
    if trace.checks:
        found = verdict(trace.checks)
        st.markdown(f"**{found}.** {_MEANINGS[found]}")
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
        fragments.polled(_under_way, jobs.poll_seconds)(job)
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
