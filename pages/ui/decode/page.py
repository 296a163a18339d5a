"""What a run shows: the text first, then the figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.trace import Trace
from core.figures.base.labels import visible_token
from pages.ui.decode import controls
from pages.ui.decode.tabs import draw_figures
from pages.ui.run import bar, jobs, proof
from pages.ui.run import save as share
from pages.ui.run.state import View
from pages.ui.widgets import style, token_strip

T = TypeVar("T")

ENDED = {
    "eos": "the model ended it",
    "stop": "ended at a stop string",
    "length": "ended at its length",
    "cancelled": "stopped before its end",
}
SOURCES = {"example": "Example", "file": "From a file", "run": "Your run"}


def draw(view: View) -> None:
    """The text and the figures; while a run goes on, the text streams and the figures wait."""
    if view.failure:
        failure(view.failure)
    job = view.jobs.get("decode")
    with st.container():
        if job is not None:
            st.fragment(_live, run_every=jobs.POLL_SECONDS)(view, job)
        else:
            with st.container():
                _finished(view)
    if view.trace is not None and view.steps:
        with st.container(key="figures"):
            # On the first paint the text goes ahead of the charts, whose script keeps a browser
            # busy for seconds; the strip asks for the second run as soon as it stands.
            if view.painted:
                draw_figures(view, view.trace)
    view.painted = True
    watch(view)


def watch(view: View) -> None:
    """While work goes on, look whether the page has to be drawn anew."""
    if view.progress() != view.seen or any(job.active for job in view.jobs.values()):
        st.fragment(_watch, run_every=jobs.POLL_SECONDS)(view)


def wanted(view: View, read: Callable[[], T]) -> T | None:
    """What the controls describe, as `read` reads them; what is wrong, or failed, is said here."""
    found, wrong = None, ""
    try:
        found = read()
    except DecodingError as error:
        wrong = str(error)
    if sentence := wrong or view.failure:
        failure(sentence)
    return found


def failure(sentence: str) -> None:
    with st.container(key="failure", horizontal=True, wrap=False, gap="small"):
        st.markdown(":material/error:", width="content")
        st.text(sentence, width="stretch")


def _watch(view: View) -> None:
    """Draws nothing; draws the page anew when work beside the run has moved on."""
    for job in view.jobs.values():
        job.watch()
    if _beside(view.progress()) != _beside(view.seen):
        st.rerun()


def _beside(progress: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    """Without the run itself, which streams in a fragment of its own."""
    return {name: state for name, state in progress.items() if name != "decode"}


def _live(view: View, job: jobs.Job) -> None:
    job.watch()
    if not job.active:
        st.rerun()
    trace = bar.so_far(view, job)
    with st.container(key="text-panel", border=True, gap="small"):
        with head("running"):
            st.text(f"{job.stage} · {job.tokens} tokens · {job.seconds:.1f} s", width="stretch")
        if trace is not None:
            _strip(view, trace, live=True)


def _finished(view: View) -> None:
    trace = view.trace
    with st.container(key="text-panel", border=True, gap="small"):
        if trace is None:
            _nothing()
            return
        with head("finished"):
            st.text(_summary(view, trace), width="stretch")
            proof.badge(view, trace)
            share.menu(view, trace)
        _strip(view, trace, live=False)


def head(state: str) -> st.delta_generator.DeltaGenerator:
    """The first line of the text's panel, `running` or `finished`."""
    return st.container(
        key=f"status-{state}", horizontal=True, vertical_alignment="center", gap="small"
    )


def _nothing() -> None:
    st.markdown("**Nothing to show yet.**  \nPress Run: the model continues the prompt.")


def _summary(view: View, trace: Trace) -> str:
    tokens = counted(len(trace.token_ids), "token")
    parts = [SOURCES.get(view.source, "Run"), tokens, ENDED[trace.finish_reason]]
    if trace.model_id != str(controls.value("model")):
        parts.insert(1, visible_token(trace.model_id, 60))
    return " · ".join(parts)


def counted(count: int, thing: str) -> str:
    """As "1 token" or "2 tokens"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _strip(view: View, trace: Trace, *, live: bool) -> None:
    by = str(controls.value("color"))
    token_strip.draw(view, trace, style.theme(), by=by, live=live)
    with st.container(key="strip-foot", horizontal=True, vertical_alignment="center", gap="small"):
        controls.color()
        token_strip.draw_legend(by, style.theme())
