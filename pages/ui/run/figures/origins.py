"""Text of a speculative run, coloured by the origin of each token."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.base.theme import Theme
from core.figures.decode.strip import kind_of, shown_text
from core.figures.speculative.timeline import key_words
from core.figures.speculative.words import EmittedToken, emitted, kind_color, kind_words
from core.language import tr
from pages.ui.run.figures import token_strip
from pages.ui.run.view import View


def _nothing() -> None:
    """Do nothing: no other part of the page shows a single token."""


def draw(
    key: str,
    view: View,
    trace: Trace,
    theme: Theme,
    *,
    live: bool,
    tokens: Sequence[EmittedToken] | None = None,
    selected: int = -1,
    on_selected: Callable[[], None] = _nothing,
) -> None:
    """Draw the text.

    Args:
        tokens: the emitted tokens, if they are known already.
        selected: index of the selected token, -1 for none.
    """
    token_strip.draw_tokens(
        key,
        view,
        trace.rendered_prompt or trace.prompt,
        theme,
        [_token(token, theme) for token in (emitted(trace) if tokens is None else tokens)],
        selected=selected,
        live=live,
        on_selected=on_selected,
        keys=on_selected is not _nothing,
    )


def _token(token: EmittedToken, theme: Theme) -> list[object]:
    classes = f"{kind_of(token.text)} {token.kind}".strip()
    label = tr(
        "Round {round}: {token}, {kind}",
        round=nth(token.round),
        token=visible_token(token.token),
        kind=kind_words(token.kind),
    )
    shown = shown_text(token.text, token.token)
    return [shown, kind_color(token.kind, theme), label, classes, token.round]


def draw_key(theme: Theme) -> None:
    """Draw the legend of the colours under the tokens."""
    entries = "".join(
        f'<span class="de-origin {kind}" style="--c:{color}">{words}</span>'
        for color, kind, words in key_words(theme)
    )
    st.html(f'<div class="de-origins" role="note">{entries}</div>', width="content")
