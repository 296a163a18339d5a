"""The generated text, token by token: coloured, clickable, and steered by the arrow keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

from core.decoding.trace import TokenStep, Trace
from core.figures import legend, token_colors
from core.figures.base.labels import percent, visible_token
from core.figures.base.theme import Theme
from pages.ui.run.view import View
from pages.ui.widgets.figure import source
from pages.ui.widgets.render_clock import drawn_at

KEY = "strip"
MAX_PROMPT_SHOWN = 4000
_HTML = """
<div class="strip">
  <div class="text" role="group" aria-label="The prompt and the generated tokens"
  ><span class="prompt"></span><span class="tokens"></span></div>
</div>
"""


_component = st.components.v2.component(
    "decoding_explorer.token_strip",
    html=_HTML,
    css=source("widgets/token_strip.css"),
    js=source("widgets/token_strip.js"),
)


def draw(view: View, trace: Trace, theme: Theme, *, by: str, live: bool) -> None:
    """Draw the strip; a click or an arrow key selects the step in `view` and reruns.

    Args:
        live: the run goes on, so nothing can be selected yet.
    """
    # Said before it is drawn: the run that the strip asks for may cut this one off.
    wait, view.painted = not view.painted, True
    draw_tokens(
        KEY,
        view,
        trace,
        theme,
        _tokens(trace, theme, by),
        selected=view.selected,
        live=live,
        on_selected=_on_selected,
        wait=wait,
    )


def draw_tokens(
    key: str,
    view: View,
    trace: Trace,
    theme: Theme,
    tokens: Sequence[Sequence[Any]],
    *,
    selected: int,
    live: bool,
    on_selected: Callable[[], None],
    wait: bool = False,
) -> None:
    """Draw a strip of tokens behind the prompt.

    Args:
        tokens: of each its text, colour, label and classes, and where a chart plays its group.
        selected: the place of the selected one, -1 for none.
        wait: ask for another run as soon as the text is drawn.
    """
    _component(
        key=key,
        data={
            "prompt": ending(trace.rendered_prompt or trace.prompt),
            # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
            "tokens": tuple(tokens),
            "selected": selected,
            "live": live,
            "run": view.number,
            "first": wait,
            "mark": theme.accent,
            "drawn": drawn_at(),
        },
        on_selected_change=on_selected,
        # The text is drawn: the run that this starts draws what follows.
        on_painted_change=lambda: None,
    )


def _on_selected() -> None:
    state = st.session_state.get(KEY) or {}
    index = state.get("selected")
    view = st.session_state.get("view")
    if isinstance(index, int) and isinstance(view, View):
        view.select(index)


def ending(text: str, most: int = MAX_PROMPT_SHOWN) -> str:
    """The last characters of a long text, behind an ellipsis."""
    return text if len(text) <= most else f"… {text[-most:]}"


def _tokens(trace: Trace, theme: Theme, by: str) -> list[list[Any]]:
    colors = token_colors(trace, by=by, theme=theme)  # type: ignore[arg-type]
    return [
        [shown_text(step.text, step.chosen.text), color, _label(step), kind_of(step.text)]
        for step, (color, _) in zip(trace.token_steps, colors, strict=True)
    ]


def _adds_text(added: str) -> bool:
    """False for the end of a text, and for bytes that are no character."""
    return bool(added.strip("\ufffd"))


def shown_text(added: str, token: str) -> str:
    """What the strip shows for a token that added this text."""
    if not _adds_text(added):
        return visible_token(token)
    # A token of nothing but whitespace would be a gap that nobody can see or hit.
    return visible_token(added) if added.isspace() else added.replace("\n", "↵")


def kind_of(added: str) -> str:
    """`special` for a token that adds no text by itself, `line` before a line break."""
    if not _adds_text(added):
        return "special"
    return "line" if "\n" in added else ""


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
