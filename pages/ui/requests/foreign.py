"""Another server's answer with log-probabilities: drawn as far as it goes, and no further."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.errors import TraceError
from core.figures.base.labels import percent, visible_token
from core.figures.base.theme import Theme
from core.figures.decode.strip import kind_of, shown_text
from core.language import N_, tr
from core.traces.foreign import MAX_BYTES, ForeignAnswer, read_foreign
from core.traces.foreign_formats import FORMATS
from core.traces.foreign_tokens import ForeignToken
from pages.ui.requests.state import RequestsView
from pages.ui.run.figures import token_strip
from pages.ui.widgets import style, table

_STRIP, _FIELD = "foreign-strip", "foreign"
_TOP_SHOWN = 5
_INTRO = N_(
    "Paste an answer with log-probabilities, whole or streamed. It may come "
    "from any OpenAI-compatible API (chat, completions, responses), Ollama, "
    "llama.cpp's /completion or SGLang's /generate."
)


def menu(view: RequestsView) -> None:
    """The field for an answer, and what is wrong with what stands in it."""
    with st.popover(tr("Another server's answer"), key="foreign-offer", type="tertiary"):
        st.text(tr(_INTRO))
        st.text(tr(", ").join(tr(each.name) for each in FORMATS))
        st.text_area(
            tr("Answer (JSON)"),
            key=_FIELD,
            height=160,
            max_chars=MAX_BYTES // 4,
            on_change=partial(_read, view),
        )


def _read(view: RequestsView) -> None:
    """Take what was pasted; all of the page shows it, the field's own part alone would be drawn."""
    text = str(st.session_state.get(_FIELD) or "")
    view.foreign, view.foreign_at = None, 0
    try:
        view.foreign = read_foreign(text) if text.strip() else None
    except TraceError as error:
        view.failure = error.shown
    st.rerun()


def _close(view: RequestsView) -> None:
    view.foreign = None
    st.session_state[_FIELD] = ""


def draw(view: RequestsView, answer: ForeignAnswer) -> None:
    """The text, the chosen place, and what such an answer can't tell."""
    with st.container(key="foreign-head", horizontal=True, vertical_alignment="center"):
        st.header(tr("An answer of another server"), anchor=False, width="stretch")
        st.button(tr("Close"), key="close_foreign", on_click=_close, args=(view,))
    theme = style.theme()
    with st.container(key="text-panel", border=True, gap="small"):
        named = visible_token(answer.model, 60) or tr("a model that is not named")
        tokens = counted(len(answer.tokens), "token")
        nothing = tr("nothing of it was run or checked here")
        st.text(f"{named} · {tr(tokens)} · {nothing}")
        token_strip.draw_tokens(
            _STRIP,
            view,
            "",
            theme,
            [_strip_token(at, token, theme) for at, token in enumerate(answer.tokens)],
            selected=view.foreign_at,
            live=False,
            on_selected=partial(_selected, view),
        )
        token_strip.draw_legend(
            "probability", theme, tr("probability, as the other server says it")
        )
    at = min(view.foreign_at, len(answer.tokens) - 1)
    known, unknown = st.columns(2)
    with known:
        _draw_place(at, answer.tokens[at])
    with unknown:
        st.subheader(tr("What this answer can't tell"), anchor=False)
        for sentence in answer.unknown:
            st.text(f"– {sentence}")
        if answer.told is not None:
            st.subheader(tr("Its own speculation, as the server says it"), anchor=False)
            st.text(tr(answer.told.words))
    st.subheader(tr("Every token"), anchor=False)
    _draw_all(answer)


def _selected(view: RequestsView) -> None:
    at = (st.session_state.get(_STRIP) or {}).get("selected")
    if isinstance(at, int):
        view.foreign_at = max(0, at)


def _draw_place(at: int, token: ForeignToken) -> None:
    """The tokens that are named at one place; what they leave is a row of its own."""
    st.subheader(tr("Token {number}", number=nth(at)), anchor=False)
    st.text(f"{visible_token(token.text, 60)}: {_known_of(token)}")
    if token.tail_mass is None:
        st.text(tr("No other token is named at this place."))
        return
    emitted = (token.text, token.logprob)
    rows = [
        (
            _rank(token) if alternative == emitted else str(nth(i)),
            visible_token(alternative[0], 60),
            alternative[1],
        )
        for i, alternative in enumerate(token.top)
    ]
    table.draw(
        "foreign-place",
        {
            "rank": [*(rank for rank, _, _ in rows), "?"],
            "token": [*(text for _, text, _ in rows), tr("all others (which ones is not known)")],
            "probability": [*(math.exp(lp) for _, _, lp in rows), token.tail_mass],
        },
        numbers={"probability": "%.4f"},
        most_rows=8,
    )


def _known_of(token: ForeignToken) -> str:
    if token.logprob is None:
        return tr("its probability is not given")
    rank = (
        tr("rank {rank}", rank=token.rank)
        if token.rank
        else tr("rank {rank} or later, not known", rank=token.least_rank)
    )
    return tr(
        "probability {probability}, {rank}", probability=percent(token.probability), rank=rank
    )


def _draw_all(answer: ForeignAnswer) -> None:
    tokens = answer.tokens
    table.draw(
        "foreign-tokens",
        {
            "no.": [nth(at) for at in range(len(tokens))],
            "token": [visible_token(token.text, 60) for token in tokens],
            "probability": [_probability(token) for token in tokens],
            "rank": [_rank(token) for token in tokens],
            "not named": [token.tail_mass for token in tokens],
            "most probable": [_top(token) for token in tokens],
        },
        numbers={"probability": "%.4f", "not named": "%.4f"},
        notes={"not named": N_("the probability of all tokens that the answer doesn't name")},
        most_rows=10,
    )


def _probability(token: ForeignToken) -> float | None:
    return None if token.logprob is None else token.probability


def _rank(token: ForeignToken) -> str:
    if token.logprob is None:
        return ""
    return str(token.rank or f"≥ {token.least_rank}")


def _top(token: ForeignToken) -> str:
    named = token.top[:_TOP_SHOWN]
    return "  ".join(f"{visible_token(text)} {percent(math.exp(lp))}" for text, lp in named)


def _strip_token(at: int, token: ForeignToken, theme: Theme) -> list[Any]:
    probability = _probability(token)
    shown = shown_text(token.added, token.text)
    label = tr(
        "Token {number}: {token}, {known}",
        number=nth(at),
        token=visible_token(token.text),
        known=_known_of(token),
    )
    ground = theme.grid if probability is None else theme.uncertainty_color(1 - probability)
    ink = theme.text_on(ground)
    return [shown, ground, label, kind_of(token.added), None, ink]
