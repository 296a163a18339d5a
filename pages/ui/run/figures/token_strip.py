"""Strip of the generated tokens: coloured, clickable, and controlled by the arrow keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from core.decoding.record.trace import Trace
from core.figures import legend, token_colors
from core.figures.base.records import forced_words
from core.figures.base.theme import Theme
from core.figures.decode.strip import kind_of, shown_texts, step_label
from pages.ui import platform
from pages.ui.run.view import View
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

KEY = "strip"
MAX_PROMPT_SHOWN = 4000
_HTML = """
<div class="strip">
  <div class="text" role="group" aria-label="The prompt and the generated tokens"
  ><span class="prompt"></span><span class="tokens"></span></div>
</div>
"""


SCRIPTS = source("widgets/going.js", "run/figures/token_strip.js")
_component = component(
    "token_strip",
    html=_HTML,
    css=source("run/figures/token_strip.css"),
    js=SCRIPTS,
)


def draw(
    view: View,
    trace: Trace,
    theme: Theme,
    *,
    by: str,
    live: bool,
    marked: Sequence[int] = (),
    forced: bool = True,
    repeated: Collection[int] = (),
    repeated_in_prompt: tuple[int, int] | None = None,
    then: Callable[[], None] = lambda: None,
    rested: Callable[[], None] | None = None,
) -> None:
    """Draw the strip; a click or a key selects the step in `view`.

    Args:
        live: the run goes on, so nothing can be selected yet.
        marked: steps that the key U goes to.
        forced: mark the tokens that were given.
        repeated: steps whose tokens are marked, as those that are repeated.
        repeated_in_prompt: as in `draw_tokens`.
        then: called at the end of a choice's callback.
        rested: called once when no further choice follows.
    """
    draw_tokens(
        KEY,
        view,
        trace.rendered_prompt or trace.prompt,
        theme,
        tokens_of(
            trace, theme, by, view.text_of, forced=forced, reads=view.reads, repeated=repeated
        ),
        selected=view.selected,
        live=live,
        on_selected=partial(_on_selected, view, then),
        on_rested=rested,
        marked=marked,
        repeated_in_prompt=repeated_in_prompt,
    )


def draw_tokens(
    key: str,
    view: View,
    prompt: str,
    theme: Theme,
    tokens: Sequence[Sequence[Any]],
    *,
    selected: int,
    live: bool,
    on_selected: Callable[[], None],
    on_rested: Callable[[], None] | None = None,
    marked: Sequence[int] = (),
    keys: bool = True,
    repeated_in_prompt: tuple[int, int] | None = None,
) -> None:
    """Draw a strip of tokens behind the prompt.

    Args:
        tokens: text, colour, label and classes of each token; its group if a chart plays, else
            None; and the text's colour if the token has a fill colour.
        selected: index of the selected token, -1 for none.
        on_rested: called once after choices, when no key or click has followed for a moment.
        marked: indices that the key U goes to.
        keys: the arrow keys choose a token while no other element has the focus.
        repeated_in_prompt: where a marked stretch of the prompt begins and ends, in characters
            before the prompt's end.
    """
    key = platform.key(key)
    _component(
        key=key,
        data={
            "key": key,
            "prompt": ending(prompt),
            "repeated": repeated_in_prompt or (),
            # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
            "tokens": tuple(tokens),
            "selected": selected,
            "heard": (st.session_state.get(key) or {}).get("selected"),
            "live": live,
            "keys": keys,
            "run": view.number,
            "slot": platform.key(""),
            "rests": on_rested is not None,
            "marked": tuple(marked),
            "mark": theme.accent,
            "drawn": drawn_at(),
        },
        on_selected_change=on_selected,
        on_rested_change=on_rested or (lambda: None),
    )


def _on_selected(view: View, then: Callable[[], None]) -> None:
    index = (st.session_state.get(platform.key(KEY)) or {}).get("selected")
    if isinstance(index, int):
        view.select(index)
        then()


def ending(text: str, most: int = MAX_PROMPT_SHOWN) -> str:
    """Return the last characters of a long text, after an ellipsis."""
    return text if len(text) <= most else f"… {text[-most:]}"


def tokens_of(
    trace: Trace,
    theme: Theme,
    by: str,
    text_of: Callable[[int], str] | None = None,
    *,
    forced: bool = True,
    reads: bool = False,
    repeated: Collection[int] = (),
) -> list[list[Any]]:
    """Return the tokens of a run for `draw_tokens`.

    Args:
        text_of: the text of a token that a given one replaced; by default as the run names it.
        forced: whether tokens that were given are marked.
        repeated: steps whose tokens are marked as repeated.
        reads: the trace is a text that was read: a label names the token's position in the text.
    """
    colors = token_colors(trace, by=by, theme=theme)  # type: ignore[arg-type]
    return [
        [
            text,
            color,
            step_label(step, trace, text_of, reads=reads),
            " ".join(
                filter(
                    None,
                    [
                        kind_of(step.text),
                        "forced" if forced and forced_words(step) else "",
                        "repeated" if step.index in repeated else "",
                    ],
                )
            ),
            None,
            ink,
        ]
        for step, text, (color, ink) in zip(
            trace.token_steps, shown_texts(trace.token_steps), colors, strict=True
        )
    ]


def draw_legend(by: str, theme: Theme, title: str = "") -> None:
    """Draw the legend of the colours: a gradient between two labels, under its title."""
    meaning = legend(by, theme)  # type: ignore[arg-type]
    st.html(
        f'<div class="de-legend" role="note" aria-label="{escape(title or meaning.title)}">'
        f"<span>{escape(meaning.low)}</span>"
        f'<i style="background:linear-gradient(90deg,{",".join(meaning.stops)})"></i>'
        f"<span>{escape(meaning.high)}</span></div>",
        width="content",
    )
