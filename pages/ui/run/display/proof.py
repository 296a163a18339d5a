"""Proof badge: the checks and measurements of a run, and a harder check on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from core.decoding.check import VERDICT_WORDS, Verdict, verdict
from core.decoding.methods import method_of
from core.decoding.record.trace import Check, Trace
from core.decoding.unchecked import unchecked_words
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.view import View
from pages.ui.widgets import style
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls.control import value
from pages.ui.widgets.render_clock import drawn_at

_list = component(
    "checks",
    html="<ul></ul>",
    css=source("run/display/proof.css"),
    js=source("run/display/proof.js"),
)

_LOOKS: dict[Verdict, tuple[str, str]] = {
    "consistent": ("check_circle", "fair"),
    "proved": ("verified", "good"),
    "failed": ("error", "bad"),
}
_MEANINGS: dict[Verdict, str] = {
    "consistent": N_(
        "All numbers agree with each other and with the settings. Only the model "
        "can prove that they are its own."
    ),
    "proved": N_(
        "All numbers agree with each other and with the settings, and the model reproduced them."
    ),
    "failed": N_(
        "A check failed: a number or a token of this run doesn't follow from its settings."
    ),
}
_ICON = ":material/model_training:"


def badge(view: View, trace: Trace) -> None:
    """Draw the outcome in a few words, as a button that opens the list of checks."""
    with _popover("proof", trace.checks, checking=view.active("check") is not None):
        list_checks("checks", trace.checks, unchecked_words(trace, trace.checks))
        _against_model(view, trace)


def badge_of(key: str, checks: Sequence[Check], *, checking: bool) -> None:
    """Draw the outcome of checks that are not in a trace, as a button that opens their list."""
    with _popover(key, checks, checking=checking):
        list_checks(f"{key}-list", checks)


@contextmanager
def _popover(key: str, checks: Sequence[Check], *, checking: bool) -> Iterator[None]:
    label, icon, tone = _outcome(checks, checking=checking)
    with (
        st.container(key=platform.key(f"{key}-{tone}"), width="content"),
        st.popover(label, icon=icon, type="tertiary", key=platform.key(key)),
    ):
        yield


def _outcome(checks: Sequence[Check], *, checking: bool) -> tuple[str, str, str]:
    total = len(checks)
    passed = sum(check.passed for check in checks)
    if not total:
        return tr("Checking") if checking else tr("Not checked"), ":material/pending:", "open"
    found = verdict(checks)
    icon, tone = _LOOKS[found]
    return (
        tr(
            "{verdict}: {passed} of {total} checks",
            verdict=tr(VERDICT_WORDS[found]),
            passed=passed,
            total=total,
        ),
        f":material/{icon}:",
        tone,
    )


def list_checks(key: str, checks: Sequence[Check], left_open: str = "") -> None:
    """Draw the checks with their numbers, and the unchecked parts; nothing without checks."""
    if not checks:
        return
    outcome = verdict(checks)
    words = {"verdict": tr(VERDICT_WORDS[outcome]), "meaning": tr(_MEANINGS[outcome])}
    st.markdown(tr("**{verdict}.** {meaning}", **words))
    if left_open:
        st.caption(tr(left_open))
    # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
    # Failed checks first: those that passed fill the whole list.
    rows = tuple(_row(check) for check in sorted(checks, key=lambda check: check.passed))
    _list(
        key=platform.key(key),
        data={"checks": rows, "theme": style.theme().name, "drawn": drawn_at()},
    )


def _row(check: Check) -> dict[str, object]:
    sign = "≤" if check.passed else ">"
    return {
        "passed": check.passed,
        "name": tr(check.words),
        "numbers": f"{check.value:.2g} {sign} {check.tolerance:.2g}",
        "detail": tr(check.detail),
    }


def _against_model(view: View, trace: Trace) -> None:
    may_load = view.may_load(str(value("model")))
    if job := view.active("check"):
        platform.poll(_under_way, jobs.poll_seconds)(job)
    else:
        st.button(
            tr("Check against the model"),
            disabled=not may_load,
            on_click=lambda: view.begin("check", jobs.check_trace(trace, with_model=True)),
            key=platform.key("check_model"),
            icon=_ICON,
        )
    st.caption(
        tr(method_of(trace.config).against_model)
        if may_load
        else tr("Choose this run's model in the sidebar first.")
    )
    if error := view.failures.get("check"):
        st.text(tr(error))


def _under_way(job: Job) -> None:
    job.watch()
    st.button(f"{tr(job.stage)}…", disabled=True, key=platform.key("check_model"), icon=_ICON)
