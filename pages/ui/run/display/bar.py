"""Buttons that start and stop work: Run, and the rows of measurements on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import streamlit as st

from core.decoding.errors import DecodingError
from core.language import N_, tr
from pages.ui import platform
from pages.ui.platform import slot
from pages.ui.run import address, cost, jobs, named_run, shared
from pages.ui.run.jobs import Job
from pages.ui.run.request import MakeRequest, RunControls
from pages.ui.run.view import View
from pages.ui.run.work import BackgroundWork
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Read, in_words, value

EMPTY_PROMPT = N_("The prompt is empty. Write a few words in the sidebar, or pick an example.")
_EMPTY_PROMPT_HERE = N_("The prompt is empty. Write a few words.")
# Long enough that drawing takes no time from the measurement.
POLL_SECONDS = 0.4
_SHORTCUT = "Ctrl+Enter"


def empty_prompt() -> str:
    """Return what to do about an empty prompt; a side of two runs has a field of its own."""
    return _EMPTY_PROMPT_HERE if slot.current().prefix else EMPTY_PROMPT


def poll_seconds() -> float:
    """Return the polling interval for running measurements, in seconds."""
    return max(POLL_SECONDS, jobs.poll_seconds())


def draw(view: View, make_request: MakeRequest) -> None:
    """Draw Run, or Stop while a run goes on.

    Args:
        make_request: makes the request from the controls of the page.
    """
    with platform.critical():
        if st.session_state.pop(platform.key(shared.RUN_EXAMPLE), False):
            start(view, make_request)
    with st.container(key=platform.key("run-side"), width="content"):
        button(
            view,
            "decode",
            N_("Run"),
            partial(start, view, make_request),
            key="start",
            stop_key="stop_run",
            type="primary",
            shortcut=_SHORTCUT,
        )
        if "decode" in view.jobs:  # Hidden: only the shortcut presses it.
            st.button(
                tr("Run with the controls as they are"),
                key=platform.key("start_over"),
                shortcut=_SHORTCUT,
                on_click=_whole_page,
                args=(partial(_start_over, view, make_request),),
            )


def button(
    work: BackgroundWork,
    name: str,
    label: str,
    start: Callable[[], None],
    *,
    key: str,
    stop_key: str = "",
    icon: str = "play_arrow",
    type: Literal["primary", "secondary"] = "secondary",
    disabled: bool = False,
    shortcut: str = "",
) -> None:
    """Draw the button that starts the work of this name, or stops it while it goes on.

    Args:
        key, stop_key: keys of the start button and, if it is another one, of the stop button.
    """
    job = work.active(name)
    if job is None:
        st.button(
            tr(label),
            key=platform.key(key),
            icon=f":material/{icon}:",
            type=type,
            disabled=disabled,
            shortcut=shortcut or None,
            on_click=_whole_page,
            args=(start,),
        )
        return
    st.button(
        tr("Stopping") if job.stopping.is_set() else tr("Stop"),
        key=platform.key(stop_key or key),
        icon=":material/stop:",
        disabled=job.stopping.is_set(),
        on_click=job.stop,
    )


def _whole_page(act: Callable[[], None]) -> None:
    """Start work and rerun the whole page, even from a fragment."""
    act()
    st.rerun()


def measure(
    work: BackgroundWork,
    name: str,
    label: str,
    start: Callable[[], None],
    note: str = "",
    *,
    row: str,
    key: str,
    stop_key: str = "",
    icon: str = "timer",
    disabled: bool = False,
    options: Sequence[str] = (),
    progress: Callable[[Job], str] = lambda job: f"{tr(job.stage)}…",
) -> None:
    """Draw a row with options, the button, and the work's progress, its error, or a note.

    Args:
        row: the key of the row.
        options: keys of the controls at the start of the row.
    """
    start_or_stop = partial(
        button, work, name, label, start, key=key, stop_key=stop_key, icon=icon, disabled=disabled
    )
    with st.container(
        key=platform.key(row), horizontal=True, vertical_alignment="center", gap="small"
    ):
        control.draw(*options)
        if job := work.active(name):
            platform.poll(_under_way, poll_seconds)(job, start_or_stop, progress)
        else:
            start_or_stop()
            st.text(tr(work.failures.get(name) or note), width="stretch")


def _under_way(job: Job, start_or_stop: Callable[[], None], progress: Callable[[Job], str]) -> None:
    """Draw Stop and the progress; the page's `watch` notices the end."""
    job.watch()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        start_or_stop()
        st.text(progress(job), width="stretch")


def _start_over(view: View, make_request: MakeRequest) -> None:
    """Stop the run that goes on and start another."""
    view.drop("decode")
    start(view, make_request)


def start(
    view: View,
    make_request: MakeRequest,
    read: Read = value,
    word: str = named_run.OF_THE_CONTROLS,
) -> None:
    """Start a run; a wrong setting becomes the page's failure.

    Args:
        read: gives a control's value by its key; by default as the control stands.
        word: names the run in the address.
    """
    if "decode" in view.jobs:
        return
    view.failure = ""
    try:
        request = make_request(read)
    except DecodingError as error:
        view.failure = in_words(error)
        address.write("run", None)
        return
    if not request.prompt.strip():
        view.failure = empty_prompt()
        address.write("run", None)
        return
    view.begin("decode", jobs.decode(request))
    view.request = request
    address.write("run", word)


def restore(view: View, controls: RunControls) -> None:
    """Repeat the run of a copied link, from the link's parameters alone.

    Only built-in models load by a link alone, and a run above the cost bound waits for Run.
    """
    if not view.restored:
        begin_restoring(view, controls)
        if "decode" in view.jobs:
            st.rerun()


@platform.critical()
def begin_restoring(view: View, controls: RunControls) -> None:
    """Start the run of a copied link as `restore` does, before anything of the page is drawn."""
    if view.restored:
        return
    view.restored = True

    def work_of(read: Read) -> named_run.RequestedWork:
        request = controls.request(read)
        return [request], cost.tokens_of(request.config)

    linked = named_run.open_link(controls.by_key, work_of)
    if linked.read is not None:
        start(view, controls.request, linked.read, named_run.word())
    elif linked.failure:
        view.failure = linked.failure
        if not linked.waits:
            address.write("run", None)
