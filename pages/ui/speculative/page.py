"""The speculative page as it is drawn: the text by origin, the timeline, and what else there is."""

from __future__ import annotations

import streamlit as st

from core.decoding.speculative.metrics import counts
from core.decoding.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.base.theme import Theme
from core.figures.speculative.timeline import key_words
from core.figures.speculative.words import Emitted, emitted, kind_color, kind_words
from pages.ui.decode import controls
from pages.ui.decode import page as results
from pages.ui.run import jobs, proof
from pages.ui.run import save as share
from pages.ui.run.request import Request
from pages.ui.speculative import controls as spec_controls
from pages.ui.speculative import lossless, tabs
from pages.ui.speculative import state as spec_state
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import style, token_strip

STRIP = "spec-strip"


def draw(view: SpecView) -> None:
    """Everything below the controls."""
    wanted = results.wanted(view, spec_controls.request)
    job = view.jobs.get("decode")
    with st.container():
        if job is not None:
            st.fragment(_live, run_every=jobs.POLL_SECONDS)(view, job)
        else:
            _panel(view, wanted)
    if view.trace is not None:
        spec_state.keep_token(view)
        with st.container(key="figures"):
            tabs.draw(view, view.trace)
    results.watch(view)


def _live(view: SpecView, job: jobs.Job) -> None:
    job.watch()
    if not job.active:
        st.rerun()
    trace = spec_state.so_far(view, job)
    with st.container(key="text-panel", border=True, gap="small"):
        with results.head("running"):
            rounds = len(trace.rounds) if trace else 0
            st.text(
                f"{job.stage} · round {rounds} · {job.tokens} tokens · {job.seconds:.1f} s",
                width="stretch",
            )
        if trace is not None:
            _strip(view, trace, emitted(trace), live=True)


def _panel(view: SpecView, wanted: Request | None) -> None:
    trace = view.trace
    with st.container(key="text-panel", border=True, gap="small"):
        if trace is None:
            st.markdown(
                "**Nothing to show yet.**  \nPress Run: the draft proposes, the target judges."
            )
            return
        with results.head("finished"):
            st.text(_summary(view, trace), width="stretch")
            proof.badge(view, trace)
            view.three = lossless.three_tokens()
            share.menu(view, trace)
        _strip(view, trace, emitted(trace), live=False)
        with st.container(
            key="strip-foot", horizontal=True, vertical_alignment="center", gap="small"
        ):
            _key(style.theme())
            _note(view, wanted)


def _summary(view: SpecView, trace: Trace) -> str:
    found = counts(trace.rounds)
    tokens, rounds = results.counted(found.emitted, "token"), results.counted(found.rounds, "round")
    parts = [
        results.SOURCES.get(view.source, "Run"),
        f"{tokens} in {rounds}",
        f"{found.accepted} of {found.drafted} drafted accepted"
        if found.drafted
        else "nothing was drafted",
        results.ENDED[trace.finish_reason],
    ]
    named = [
        (trace.model_id, str(controls.value("model"))),
        (trace.draft_id, spec_controls.draft()),
    ]
    parts[1:1] = [visible_token(own, 60) for own, chosen in named if own and own != chosen]
    return " · ".join(parts)


def _strip(view: SpecView, trace: Trace, tokens: list[Emitted], *, live: bool) -> None:
    theme = style.theme()
    token_strip.draw_tokens(
        STRIP,
        view,
        trace,
        theme,
        [_token(found, theme) for found in tokens],
        selected=spec_state.place_in_text(tokens, view.token),
        live=live,
        on_selected=_on_selected,
    )


def _token(found: Emitted, theme: Theme) -> list[object]:
    classes = f"{token_strip.kind_of(found.text)} {found.kind}".strip()
    label = f"Round {found.round}: {visible_token(found.token)}, {kind_words(found.kind)}"
    shown = token_strip.shown_text(found.text, found.token)
    return [shown, kind_color(found.kind, theme), label, classes, found.round]


def _on_selected() -> None:
    state = st.session_state.get(STRIP) or {}
    at, view = state.get("selected"), st.session_state.get("speculative")
    if isinstance(at, int) and isinstance(view, SpecView) and view.trace is not None:
        tokens = emitted(view.trace)
        if 0 <= at < len(tokens):
            view.look_at(tokens[at].round, tokens[at].place)


def _key(theme: Theme) -> None:
    """What the colours under the tokens mean."""
    entries = "".join(
        f'<span class="de-origin {kind}" style="--c:{color}">{words}</span>'
        for color, kind, words in key_words(theme)
    )
    st.html(f'<div class="de-origins" role="note">{entries}</div>', width="content")


def _note(view: SpecView, wanted: Request | None) -> None:
    """What the controls now say that the run did not."""
    changed = wanted is not None and spec_state.needs_run(view, wanted)
    with st.container(key="note-changed" if changed else "note-plain"):
        st.text(
            "Settings changed since this run: press Run."
            if changed
            else "Click a token, here or in the timeline, to see its trial."
        )
