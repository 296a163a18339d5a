"""The generated text, token by token: coloured, clickable, and steered by the arrow keys."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from core.decoding.types import TokenStep, Trace
from core.figures import legend, token_colors
from core.figures.labels import percent, visible_token
from core.figures.theme import Theme
from pages.ui.drawn import drawn_at
from pages.ui.figure import source
from pages.ui.state import View

KEY = "strip"
MAX_PROMPT_SHOWN = 4000
_HTML = """
<div class="strip">
  <div class="text" role="group" aria-label="The prompt and the generated tokens"
  ><span class="prompt"></span><span class="tokens"></span></div>
  <i class="probe"></i>
</div>
"""


_component = st.components.v2.component(
    "decoding_explorer.token_strip",
    html=_HTML,
    css=source("token_strip.css"),
    js=source("token_strip.js"),
)


def draw(view: View, trace: Trace, theme: Theme, *, by: str, live: bool) -> None:
    """Draw the strip; a click or an arrow key selects the step in `view` and reruns.

    Args:
        live: the run goes on, so nothing can be selected yet.
    """
    _component(
        key=KEY,
        data={
            "prompt": _prompt(trace),
            # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
            "tokens": tuple(_tokens(trace, theme, by)),
            "selected": view.selected,
            "live": live,
            "run": view.number,
            "first": not view.painted,
            "mark": theme.accent,
            "theme": theme.name,
            "drawn": drawn_at(),
        },
        on_selected_change=_on_selected,
        on_painted_change=_rerun,
        on_theme_change=_rerun,
    )


def _on_selected() -> None:
    state = st.session_state.get(KEY) or {}
    index = state.get("selected")
    view = st.session_state.get("view")
    if isinstance(index, int) and isinstance(view, View):
        view.select(index)


def _rerun() -> None:
    """The text stands, or the theme changed: the run that this starts draws what follows."""


def _prompt(trace: Trace) -> str:
    text = trace.rendered_prompt or trace.prompt
    return text if len(text) <= MAX_PROMPT_SHOWN else "… " + text[-MAX_PROMPT_SHOWN:]


def _tokens(trace: Trace, theme: Theme, by: str) -> list[list[Any]]:
    colors = token_colors(trace, by=by, theme=theme)  # type: ignore[arg-type]
    return [
        [_text(step), color, _label(step), _kind(step)]
        for step, (color, _) in zip(trace.token_steps, colors, strict=True)
    ]


def _adds_text(step: TokenStep) -> bool:
    """False for the end of a text, and for bytes that are no character."""
    return bool(step.text.strip("\ufffd"))


def _text(step: TokenStep) -> str:
    if not _adds_text(step):
        return visible_token(step.chosen.text)
    # A token of nothing but whitespace would be a gap that nobody can see or hit.
    return visible_token(step.text) if step.text.isspace() else step.text.replace("\n", "↵")


def _kind(step: TokenStep) -> str:
    """`special` for a token that adds no text by itself, `line` before a line break."""
    if not _adds_text(step):
        return "special"
    return "line" if "\n" in step.text else ""


def _label(step: TokenStep) -> str:
    token = step.chosen
    return (
        f"Step {step.index}: {visible_token(token.text)}, "
        f"probability {percent(token.raw_prob)}, rank {token.rank}"
    )


def draw_legend(by: str, theme: Theme) -> None:
    """The meaning of the colours: a gradient between two labels."""
    meaning = legend(by, theme)  # type: ignore[arg-type]
    st.html(
        f'<div class="de-legend" role="note" aria-label="{escape(meaning.title)}">'
        f"<span>{escape(meaning.low)}</span>"
        f'<i style="background:linear-gradient(90deg,{",".join(meaning.stops)})"></i>'
        f"<span>{escape(meaning.high)}</span></div>",
        width="content",
    )
