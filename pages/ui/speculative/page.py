"""The speculative page as it is drawn: the text by origin, the timeline, and what else there is."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.speculative.metrics import counts
from core.decoding.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.base.theme import Theme
from core.figures.speculative.timeline import key_words
from core.figures.speculative.words import Emitted, emitted, kind_color, kind_words
from pages.ui.run import panel
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.speculative import controls, lossless, state, tabs
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import style, token_strip

STRIP = "spec-strip"


def draw(view: SpecView) -> None:
    """Everything below the controls."""
    asked = panel.read_controls(view, controls.request)
    panel.draw(
        view,
        "the draft proposes, the target judges.",
        partial(_live, view),
        partial(_finished, view, asked),
    )
    if view.trace is not None:
        state.keep_token(view)
        with st.container(key="figures"):
            tabs.draw(view, view.trace)
    panel.watch(view)


def _live(view: SpecView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        rounds = len(trace.rounds) if trace else 0
        panel.running(job, f"round {rounds} · {counted(job.tokens, 'token')}")
        if trace is not None and rounds:
            _strip(view, trace, emitted(trace), live=True)


def _finished(view: SpecView, asked: Request | None, trace: Trace) -> None:
    view.three = lossless.three_tokens()
    with panel.box():
        panel.head(view, trace, *_summary(trace), draft=controls.draft())
        _strip(view, trace, emitted(trace), live=False)
        with st.container(
            key="strip-foot", horizontal=True, vertical_alignment="center", gap="small"
        ):
            _key(style.theme())
            panel.note(
                "Settings changed since this run: press Run."
                if asked is not None and state.needs_run(view, asked)
                else "",
                "Click a token, here or in the timeline, to see its verification.",
            )


def _summary(trace: Trace) -> tuple[str, ...]:
    found = counts(trace.rounds)
    tokens, rounds = counted(found.emitted, "token"), counted(found.rounds, "round")
    return (
        f"{tokens} in {rounds}",
        f"{found.accepted} of {found.drafted} drafted accepted"
        if found.drafted
        else "nothing was drafted",
        panel.ENDED[trace.finish_reason],
    )


def _strip(view: SpecView, trace: Trace, tokens: list[Emitted], *, live: bool) -> None:
    theme = style.theme()
    token_strip.draw_tokens(
        STRIP,
        view,
        trace.rendered_prompt or trace.prompt,
        theme,
        [_token(found, theme) for found in tokens],
        selected=state.place_in_text(tokens, view.token),
        live=live,
        on_selected=_on_selected,
    )


def _token(found: Emitted, theme: Theme) -> list[object]:
    classes = f"{token_strip.kind_of(found.text)} {found.kind}".strip()
    label = f"Round {nth(found.round)}: {visible_token(found.token)}, {kind_words(found.kind)}"
    shown = token_strip.shown_text(found.text, found.token)
    return [shown, kind_color(found.kind, theme), label, classes, found.round]


def _on_selected() -> None:
    at = (st.session_state.get(STRIP) or {}).get("selected")
    view = SpecView.current()
    if isinstance(at, int) and view.trace is not None:
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
