"""The panel of a run: live while it goes on, then finished, stale or failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeVar

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.figures.base.labels import NBSP, visible_token
from core.language import N_, in_every_language, tr
from pages.ui import platform
from pages.ui.platform import guard
from pages.ui.registry import Page
from pages.ui.run import address, jobs
from pages.ui.run.display import history, outside, plain_text, proof
from pages.ui.run.files import save
from pages.ui.run.jobs import Job
from pages.ui.run.view import View
from pages.ui.run.work import BackgroundWork
from pages.ui.widgets import closed, words
from pages.ui.widgets.ahead import Prefetch
from pages.ui.widgets.controls.control import in_words, value
from pages.ui.widgets.controls.old_labels import OLD_LABELS

T = TypeVar("T")
# Between the parts of a run's first line: a broken line doesn't begin with the dot.
_BETWEEN = f"{NBSP}· "
# Key of the Save menu, whose link and file hold the controls' values.
SAVE = "save-menu"

ENDED = {
    "eos": N_("the model ended it"),
    "stop": N_("ended at a stop string"),
    "length": N_("ended at its length"),
    "cancelled": N_("stopped before its end"),
}
SOURCES = {
    "example": N_("Example"),
    "file": N_("From a file"),
    "request": N_("Request"),
    "many": N_("One of many runs"),
    "run": N_("Your run"),
}


def draw(
    view: View,
    nothing: str,
    live: Callable[[Job], None],
    finished: Callable[[Trace], None],
) -> None:
    """Draw the run under way, else the shown trace, else a hint at what Run would do.

    Args:
        nothing: the hint.
        live, finished: draw the run, each with a `box`.
    """
    job = view.jobs.get("decode")
    with st.container():
        if job is not None:
            platform.poll(_live, jobs.poll_seconds)(view, job, live)
            return
        with st.container():
            if view.trace is not None:
                finished(view.trace)
                outside.draw(view, view.trace)
                return
            with box():
                st.markdown(
                    tr("**Nothing to show yet.**  \nPress Run: {result}", result=tr(nothing))
                )


def _live(view: View, job: Job, live: Callable[[Job], None]) -> None:
    # A full run collects results further down; a rerun from here would loop for ever.
    if guard.is_alone():
        _watch(view)
    live(job)


def box() -> st.delta_generator.DeltaGenerator:
    """Return the container of a run's text."""
    return st.container(key=platform.key("text-panel"), border=True, gap="small")


def running(job: Job, made: str) -> None:
    """Draw the first line of a run that goes on.

    Args:
        made: the amount made so far, in words.
    """
    with _head("running"):
        words = (tr(job.stage), tr(made), f"{job.seconds:.1f} s")
        st.text(_BETWEEN.join(words), width="stretch")


def progress(job: Job) -> None:
    """Draw the progress of a job that makes several runs."""
    job.watch()
    ended, total = job.counts
    st.progress(min(1.0, ended / max(1, total)), job.runs_words)


def head(
    view: View,
    trace: Trace,
    *parts: str,
    draft: str = "",
    shown: Callable[[], Trace] | None = None,
    page: Page | None = None,
    saves: Callable[[], None] | None = None,
) -> None:
    """Draw the first line of a finished run: its source and figures, its proof, the Save menu.

    Args:
        parts: further words about the run, such as its length.
        draft: the draft model that the controls name.
        shown: gives the trace as the page shows it, if that differs from the trace as it was run.
        page: the page that shows it, if that isn't the page of its method.
        saves: draws a Save menu of the page's own.
    """
    named = ((trace.model_id, str(value("model"))), (trace.draft_id, draft))
    menu = saves or (lambda: save.menu(view, trace, shown and shown()))
    others = [visible_token(model, 60) for model, chosen in named if model and model != chosen]
    with _head("finished"):
        st.text(
            _BETWEEN.join([tr(SOURCES.get(view.source, "Run")), *others, *map(tr, parts)]),
            width="stretch",
        )
        proof.badge(view, trace)
        history.menu(view, page)
        if trace.text.strip():
            with st.container(key=platform.key("text-side"), width="content"):
                platform.part(plain_text.menu, key="text-menu")(trace)
        with st.container(
            key=platform.key("save-side"), width="content"
        ):  # Without a container the fragment would take half the row.
            platform.part(menu, key=SAVE)()


def _head(state: str) -> st.delta_generator.DeltaGenerator:
    return st.container(
        key=platform.key(f"status-{state}"),
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    )


def note(changed: str, plain: str, prefetch: Prefetch | None = None, *, key: str = "note") -> None:
    """Draw the controls' changes since the run; without any, what the user can do with the run.

    Args:
        key: key of its container, before the suffix for its kind.
        prefetch: prefetches the text for other inputs, as `note`.
    """
    with st.container(key=platform.key(f"{key}-{'changed' if changed else 'plain'}")):
        if prefetch is None:
            st.text(tr(changed or plain), width="stretch")
        else:
            words.draw("note", tr(changed or plain), prefetch)


def made_by(*captions: str) -> None:
    """Draw once the captions that all figures of the page carry when they are exported."""
    with st.container(key=platform.key("made-by")):
        for caption in captions:
            st.text(caption, width="stretch")


def read_controls(view: View, read: Callable[[], T]) -> T | None:
    """Return the result of `read`, None on an error; draw that error or the view's failure."""
    result, wrong = None, ""
    try:
        result = read()
    except DecodingError as error:
        wrong = in_words(error)
    failure(wrong or view.failure)
    return result


def failure(sentence: str, *, again: Callable[[], None] | None = None) -> None:
    """Draw an error sentence; nothing if it is empty.

    Args:
        again: callback of a button that tries again, if that may help.
    """
    if not sentence:
        return
    with st.container(key=platform.key("failure"), horizontal=True, wrap=False, gap="small"):
        st.markdown(":material/error:", width="content")
        st.text(tr(sentence), width="stretch")
        if again is not None:
            st.button(
                tr("Try again"), key=platform.key("try_again"), type="tertiary", on_click=again
            )


class Tab(NamedTuple):
    """A tab of a page: its title and its draw function."""

    title: str
    draw: Callable[[], None]


def tabs(
    key: str, drawings: Mapping[str, Tab], *, linked: bool = True, ready: Collection[str] = ()
) -> None:
    """Draw tabs by their keys; only the open one is drawn.

    Args:
        linked: the address names the open tab.
        ready: keys of closed tabs whose figures are prefetched, so that they appear as soon as a
            tab is opened; not while the server is busy. Drawing them must start no work.
    """
    ready = ready if jobs.is_quiet() else ()
    name = platform.key(key)
    if linked and name not in st.session_state:
        named = st.query_params.get(name, "")
        if tab := drawings.get(OLD_LABELS.get(key, {}).get(named, named)):
            st.session_state[name] = tr(tab.title)
    if tab := drawings.get(st.session_state.pop(f"{name}-open", "")):
        st.session_state[name] = tr(tab.title)
    titles = [tr(tab.title) for tab in drawings.values()]
    if (held := st.session_state.get(name, titles[0])) not in titles:
        # The reader has changed the language.
        renamed = (tab for tab in drawings.values() if held in in_every_language(tab.title))
        st.session_state[name] = next((tr(tab.title) for tab in renamed), titles[0])
    with st.container(key=platform.key("more")):
        containers = st.tabs(titles, key=name, on_change="rerun")
        opened = dict(zip(drawings, containers, strict=True))
        if linked:
            opened_key = next(tab_key for tab_key in drawings if opened[tab_key].open)
            address.write(key, None if opened_key == next(iter(drawings)) else opened_key)
        for tab_key, tab in drawings.items():
            with opened[tab_key]:
                if tab_key in ready:
                    with closed.tab(is_open=bool(opened[tab_key].open)):
                        tab.draw()
                elif opened[tab_key].open:
                    tab.draw()


def open_tab(key: str, tab: str) -> None:
    """Open a tab by its key, before its row is drawn next."""
    st.session_state[f"{platform.key(key)}-open"] = tab


def watch(work: BackgroundWork) -> None:
    """Start the work that the page just drawn waits for, and redraw the page when any has ended."""
    work.forget_unrequested()
    work.start_deferred()
    # During a run its panel watches all jobs.
    if work.under_way and "decode" not in work.jobs:
        platform.poll(_watch, jobs.poll_seconds)(work)


def _watch(work: BackgroundWork) -> None:
    for job in work.jobs.values():
        job.watch()
    if work.news:
        st.rerun()
