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
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

TurnTo = Callable[[int], None]
# What is in sight of the chart, by the name of its columns: nothing, a part, a window, all; and the
# slider's label.
_TEXTS = {
    "step": {
        "none": N_("no step yet"),
        "up_to": N_("steps up to {count}"),
        "window": N_("steps {first} to {count} of {all}"),
        "all": N_("all {all} steps"),
        "label": N_("Steps shown"),
    },
    "round": {
        "none": N_("no round yet"),
        "up_to": N_("rounds up to {count}"),
        "window": N_("rounds {first} to {count} of {all}"),
        "all": N_("all {all} rounds"),
        "label": N_("Rounds shown"),
    },
}

_HTML = """
<div class="play">
  <button type="button"></button>
  <input type="range" min="1" step="1">
  <output></output>
</div>
"""

_component = component(
    "play",
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
        word: what a column of the chart is.
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
            "texts": {name: tr(text) for name, text in _TEXTS[word].items()},
            "like": like or {},
            "box": {side: area[side] for side in ("left", "right", "top", "bottom")},
            "paper": theme.paper,
            "run": number,
            "slot": platform.key(""),
            "drawn": drawn_at(),
        },
        on_turn_change=turned,
    )
