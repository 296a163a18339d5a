"""A figure in the page: one component that Plotly draws in place.

Streamlit's own chart is built anew for every change, by a script three times as large.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.figures.base.labels import exact_plain
from core.figures.base.sheet import plain_values
from pages.ui import platform
from pages.ui.platform.chart_script import SCRIPT
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_HTML = '<div class="chart" role="figure"><div class="plot"></div></div>'
SCRIPTS = source("widgets/ahead.js", "widgets/going.js", "widgets/chart.js")
_component = component(
    "chart",
    html=_HTML,
    js=SCRIPTS,
    # Its words are looked for in the page, by tests and by what else the page draws over it.
    isolate_styles=False,
)


@dataclass(eq=False)
class Drawing:
    """A figure as the browser gets it.

    Args:
        words: its title, alt text and caption, and what else it tells the page.
        text: data and layout as JSON; empty where the browser fetches them.
        captioned: whether it bears its caption.
        number: when it was made: the browser keeps the newest.
    """

    words: dict[str, Any]
    text: str
    captioned: bool = False
    number: float = field(default_factory=drawn_at)

    def again(self) -> Drawing:
        """The same figure, to follow another in its place."""
        return replace(self, number=drawn_at())


def drawing(figure: go.Figure, *, captioned: bool = True) -> Drawing:
    """Make a figure ready for the browser; its meta, which Plotly would read, becomes `words`."""
    plain = plain_values(figure)
    plain["layout"].pop("template", None)
    words = plain["layout"]["words"] = plain["layout"].pop("meta")
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return Drawing(words, text, captioned)


def draw(
    name: str,
    shown: Drawing,
    on_click: Callable[[list[object]], None] | None = None,
    ahead: dict[str, Any] | None = None,
    chooses: str = "",
) -> None:
    """Draw a chart of this name.

    Args:
        on_click: gets the `customdata` of a clicked mark.
        ahead: what the browser is told of the chart under other inputs (`Prefetch.payload`).
        chooses: the input that a clicked mark chooses, which the first two of its values name.
    """
    key = platform.key(f"chart-{name}")

    def clicked() -> None:
        state: Any = (st.session_state.get(key) or {}).get("clicked")
        if on_click is not None and isinstance(state, dict) and isinstance(state.get("mark"), list):
            on_click(state["mark"])

    _component(
        key=key,
        data={
            "figure": shown.text,
            "number": shown.number,
            "alt": exact_plain(shown.words["alt"]),
            "clicked": on_click is not None,
            "name": platform.key(name),
            "ahead": ahead,
            "chooses": chooses and platform.key(chooses),
            "script": SCRIPT,
        },
        on_clicked_change=clicked,
    )
