"""Play: a chart grows step by step in the browser, which covers what is not there yet.

Where the chart is drawn in windows, the browser asks for the one that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.figures.base.theme import Theme
from core.language import N_, tr
from pages.ui import platform
from pages.ui.widgets.chart import Drawing
from pages.ui.widgets.render_clock import drawn_at
from pages.ui.widgets.source import source

TurnTo = Callable[[int], None]
# By a column's name: a part of the columns from the first on, none of them, a window, all; the
# slider's name.
_WORDS = {
    "step": (
        N_("steps up to {shown}"),
        N_("no step yet"),
        N_("steps {first} to {shown} of {all}"),
        N_("all {all} steps"),
        N_("Steps shown"),
    ),
    "round": (
        N_("rounds up to {shown}"),
        N_("no round yet"),
        N_("rounds {first} to {shown} of {all}"),
        N_("all {all} rounds"),
        N_("Rounds shown"),
    ),
}

_HTML = """
<div class="play">
  <button type="button"></button>
  <input type="range" min="1" step="1">
  <output></output>
</div>
"""

_component = st.components.v2.component(
    "decoding_explorer.play",
    html=_HTML,
    css=source("widgets/play.css"),
    js=source("widgets/play.js"),
)


def draw(
    name: str,
    drawn: Drawing,
    theme: Theme,
    number: int,
    *,
    count: int,
    turn: TurnTo,
    word: str = "step",
    like: Mapping[str, str] | None = None,
) -> None:
    """The play button and the step slider of the chart `name`.

    Args:
        number: of the trace; another one begins with all of its window in sight.
        count: the steps of the whole run.
        turn: moves the window to a step.
        word: what a column of the chart is, in `_WORDS`.
        like: for traces that give the outcome away, the trace in whose colours they are shown
            until the last step.
    """
    key = platform.key(f"play-{name}")
    area = drawn.words

    def turned() -> None:
        step = (st.session_state.get(key) or {}).get("turn")
        if isinstance(step, int | float):
            turn(int(step))

    _component(
        key=key,
        data={
            "chart": f"st-key-{platform.key(f'figure-{name}')}",
            "ends": tuple(area["ends"]),
            "rows": area.get("rows"),
            "first": area["first"],
            "count": count,
            "words": tuple(map(tr, _WORDS[word])),
            "like": like or {},
            "box": {side: area[side] for side in ("left", "right", "top", "bottom")},
            "paper": theme.paper,
            "run": number,
            "slot": platform.key(""),
            "drawn": drawn_at(),
        },
        on_turn_change=turned,
    )
