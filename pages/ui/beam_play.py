"""Play: the tree grows step by step in the browser, which covers what is not there yet."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from core.figures.theme import Theme
from pages.ui.drawn import drawn_at
from pages.ui.figure import source

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


def draw(name: str, figure: go.Figure, theme: Theme, number: int) -> None:
    """The play button and the step slider of the tree that is the chart `name`.

    Args:
        number: of the trace; another one begins with the whole tree in sight.
    """
    area = figure.layout.meta
    _component(
        key="beam-play",
        data={
            "chart": f"st-key-figure-{name}",
            "ends": tuple(area["ends"]),
            "first": area["first"],
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
