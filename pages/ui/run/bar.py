"""Run and Stop, what happens on them, and how finished work reaches the view."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.trace import Timings, TokenStep, Trace
from pages.ui.decode import controls
from pages.ui.run import jobs
from pages.ui.run.request import Request
from pages.ui.run.state import View
from pages.ui.shell import models

EMPTY_PROMPT = "The prompt is empty. Write a few words in the sidebar, or pick an example."
LINK_NEEDS_RUN = "This link uses a model that is not built in. Press Run to load it."


Ask = Callable[[], Request]


def draw(view: View, ask: Ask = controls.request) -> None:
    """One button in one place: Run, or Stop while a run goes on.

    Args:
        ask: says what a run is asked for, by the controls of the page.
    """
    job = view.jobs.get("decode")
    with st.container(key="run-side", width="content"):
        _button(view, job, ask)


def _button(view: View, job: jobs.Job | None, ask: Ask) -> None:
    if job is None:
        st.button(
            "Run",
            key="start",
            type="primary",
            icon=":material/play_arrow:",
            on_click=start,
            args=(view, ask),
        )
    else:
        st.button(
            "Stopping" if job.stopping.is_set() else "Stop",
            key="stop_run",
            icon=":material/stop:",
            disabled=job.stopping.is_set(),
            on_click=job.stop,
        )


def start(view: View, ask: Ask = controls.request) -> None:
    """Start a run of what the controls say; a wrong setting becomes the page's failure."""
    if "decode" in view.jobs:
        return
    view.failure = ""
    try:
        request = ask()
    except DecodingError as error:
        view.failure = str(error)
        return
    if not request.prompt.strip():
        view.failure = EMPTY_PROMPT
        return
    view.jobs["decode"] = jobs.decode(request)
    view.request = request
    st.query_params["run"] = "1"


def restore(view: View, ask: Ask = controls.request) -> None:
    """Make the run again that a copied link tells of; only built-in models load by a link alone."""
    if view.restored:
        return
    view.restored = True
    if st.query_params.get("run") != "1":
        return
    try:
        wanted = ask().models
    except DecodingError as error:
        view.failure = str(error)
        return
    if all(map(models.is_embedded, wanted)):
        start(view, ask)
        st.rerun()
    else:
        view.failure = next(filter(None, map(models.unknown, wanted)), LINK_NEEDS_RUN)


def settle(view: View) -> None:
    """Take over what finished work has left; work that ends later is seen by the page's watch."""
    view.seen = view.progress()
    run = _ended(view, "decode")
    if run is not None:
        view.failure = run.error
        if run.result is not None:
            view.show(run.result, "run")
    for name in ("check", "compare"):
        job = _ended(view, name)
        if job is not None and job.result is None:
            view.jobs[name] = job  # its error stays beside the button that started it
        elif job is not None and name == "check" and view.trace is not None:
            view.trace = view.trace.with_checks(job.result)
        elif job is not None:
            view.compared = job.result
    view.seen = {name: state for name, state in view.seen.items() if name in view.jobs}


def _ended(view: View, name: str) -> jobs.Job | None:
    """The work, taken out of the view, if the page has seen its end."""
    if name not in view.seen or view.jobs[name].active:
        return None
    return view.jobs.pop(name)


def so_far(view: View, job: jobs.Job) -> Trace | None:
    """The trace of a run that goes on, up to now; None before its first step."""
    steps = tuple(job.steps)
    request: Request | None = view.request
    if request is None:
        return None
    tokens = [step for step in steps if isinstance(step, TokenStep)]
    return Trace(
        model_id=request.model,
        prompt=request.prompt,
        prompt_ids=(),
        config=request.config,
        steps=steps,
        token_ids=tuple(step.token_id for step in tokens),
        text="".join(step.text for step in tokens),
        finish_reason="cancelled",
        timings=Timings(0.0, 0.0, job.seconds),
    )
