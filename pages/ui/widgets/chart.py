"""A figure in the page: one component that Plotly draws in place.

Streamlit's own chart is built anew for every change, by a script three times as large.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.figures.base.plain import plain_values
from pages.ui.hosting.chart_script import SCRIPT
from pages.ui.widgets.render_clock import drawn_at
from pages.ui.widgets.source import source

_HTML = '<div class="chart" role="figure"><div class="plot"></div></div>'
_component = st.components.v2.component(
    "decoding_explorer.chart",
    html=_HTML,
    js=source("widgets/chart.js"),
    # Its words are looked for in the page, by tests and by what else the page draws over it.
    isolate_styles=False,
)


@dataclass(eq=False)
class Drawing:
    """A figure as the browser gets it.

    Args:
        words: its title, alt text and caption, and what else it tells the page.
        text: data and layout as JSON.
        number: when it was made: the browser keeps the newest.
    """

    words: dict[str, Any]
    text: str
    number: float = field(default_factory=drawn_at)

    def again(self) -> Drawing:
        """The same figure, to follow another in its place."""
        return Drawing(self.words, self.text)


def drawing(figure: go.Figure) -> Drawing:
    """Make a figure ready for the browser; its meta, which Plotly would read, becomes `words`."""
    plain = plain_values(figure)
    plain["layout"].pop("template", None)
    words = plain["layout"]["words"] = plain["layout"].pop("meta")
    return Drawing(words, json.dumps(plain, ensure_ascii=False, separators=(",", ":")))


def draw(
    name: str,
    shown: Drawing,
    on_click: Callable[[list[object]], None] | None = None,
    ahead: dict[str, Any] | None = None,
) -> None:
    """Draw a chart of this name.

    Args:
        on_click: gets the `customdata` of a clicked mark.
        ahead: where the browser finds the chart of another step: the address before its number,
            the strip in which it is chosen, and the step that is shown.
    """
    key = f"chart-{name}"

    def clicked() -> None:
        told: Any = (st.session_state.get(key) or {}).get("clicked")
        if on_click is not None and isinstance(told, dict) and isinstance(told.get("mark"), list):
            on_click(told["mark"])

    _component(
        key=key,
        data={
            "figure": shown.text,
            "number": shown.number,
            "alt": shown.words["alt"],
            "clicked": on_click is not None,
            "name": name,
            "ahead": ahead,
            "script": SCRIPT,
        },
        on_clicked_change=clicked,
    )
