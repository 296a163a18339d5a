"""Play: the tree grows step by step in the browser, which covers what is not there yet.

Where the tree is drawn in windows, the browser asks for the one that it needs.
"""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from core.figures.theme import Theme
from pages.ui.beam_state import BeamView
from pages.ui.drawn import drawn_at
from pages.ui.figure import source

KEY = "beam-play"
Turn = Callable[[int], None]

_HTML = """
<div class="play">
  <button type="button"></button>
  <input type="range" min="1" step="1" aria-label="Steps shown">
  <output></output>
</div>
"""

_component = st.components.v2.component(
    "decoding_explorer.beam_play",
    html=_HTML,
    css=source("beam_play.css"),
    js=source("beam_play.js"),
)


def draw(name: str, figure: go.Figure, theme: Theme, view: BeamView, turn: Turn) -> None:
    """The play button and the step slider of the tree that is the chart `name`.

    Args:
        turn: moves the window to a step.
    """
    area = figure.layout.meta

    def turned() -> None:
        step = (st.session_state.get(KEY) or {}).get("turn")
        if isinstance(step, int | float):
            turn(int(step))

    _component(
        key=KEY,
        data={
            "chart": f"st-key-figure-{name}",
            "ends": tuple(area["ends"]),
            "first": area["first"],
            "count": len(view.beam_steps),
            "box": {side: area[side] for side in ("left", "right", "top", "bottom")},
            "paper": theme.paper,
            "theme": theme.name,
            # Another search begins with all of its window in sight.
            "run": view.number,
            "drawn": drawn_at(),
        },
        on_theme_change=_rerun,
        on_turn_change=turned,
    )


def _rerun() -> None:
    """The theme changed: the run that this starts draws the charts in it."""
