"""Play: a chart grows step by step in the browser, which covers what is not there yet."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from core.figures.theme import Theme
from pages.ui.drawn import drawn_at
from pages.ui.figure import source

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
    css=source("play.css"),
    js=source("play.js"),
)


def draw(name: str, figure: go.Figure, theme: Theme, number: int, word: str = "step") -> None:
    """The play button and the step slider of the chart `name`.

    Args:
        number: of the trace; another one begins with the whole chart in sight.
        word: what a column of the chart is.
    """
    area = figure.layout.meta
    _component(
        key=f"play-{name}",
        data={
            "chart": f"st-key-figure-{name}",
            "ends": tuple(area["ends"]),
            "first": area["first"],
            "word": word,
            "box": {side: area[side] for side in ("left", "right", "top", "bottom")},
            "paper": theme.paper,
            "theme": theme.name,
            "run": f"{number} {area['first']} {len(area['ends'])}",
            "drawn": drawn_at(),
        },
        on_theme_change=_rerun,
    )


def _rerun() -> None:
    """The theme changed: the run that this starts draws the charts in it."""
