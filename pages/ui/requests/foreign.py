"""Another server's answer with log-probabilities: drawn as far as it goes."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from core.decoding.counting import nth
from core.decoding.errors import TraceError
from core.figures.base.labels import percent, visible_token
from core.figures.base.theme import Theme
from core.traces.foreign import MAX_BYTES, ForeignAnswer, ForeignToken, read_foreign
from pages.ui.requests.state import RequestsView
from pages.ui.widgets import style, token_strip

_TOP_SHOWN = 5
_INTRO = (
    "Paste the JSON answer of any OpenAI-shaped API (chat, completions or responses, not streamed) "
    "that was asked for log-probabilities."
)


def draw(view: RequestsView) -> None:
    """The field, and what is in it."""
    with st.expander("An answer of another server", icon=":material/content_paste:"):
        st.caption(_INTRO)
        text = st.text_area(
            "Answer (JSON)", key="foreign", height=120, max_chars=MAX_BYTES // 4,
            label_visibility="collapsed",
        )  # fmt: skip
        if not text:
            return
        try:
            answer = read_foreign(text)
        except TraceError as error:
            st.text(str(error))
            return
        _draw_answer(view, answer)


def _draw_answer(view: RequestsView, answer: ForeignAnswer) -> None:
    theme = style.theme()
    token_strip.draw_tokens(
        "foreign-strip",
        view,
        "",
        theme,
        [_strip_token(at, token, theme) for at, token in enumerate(answer.tokens)],
        selected=-1,
        live=True,
        on_selected=lambda: None,
    )
    token_strip.draw_legend("probability", theme)
    st.text("\n".join(answer.unknown))
    st.dataframe(
        {
            "position": [nth(at) for at in range(len(answer.tokens))],
            "token": [token.text for token in answer.tokens],
            "probability": [_probability(token) for token in answer.tokens],
            "rank": [token.rank for token in answer.tokens],
            "not named": [token.tail_mass for token in answer.tokens],
            "most probable": [_top(token) for token in answer.tokens],
        },
        hide_index=True,
    )


def _probability(token: ForeignToken) -> float | None:
    return None if token.logprob is None else math.exp(token.logprob)


def _top(token: ForeignToken) -> str:
    named = token.top[:_TOP_SHOWN]
    return "  ".join(f"{visible_token(text)} {percent(math.exp(lp))}" for text, lp in named)


def _strip_token(at: int, token: ForeignToken, theme: Theme) -> list[Any]:
    probability = _probability(token) or 0.0
    shown = token_strip.shown_text(token.text, token.text)
    label = f"Token {nth(at)}: {visible_token(token.text)}, probability {percent(probability)}"
    color = theme.probability_color(probability)
    return [shown, color, label, token_strip.kind_of(token.text)]
