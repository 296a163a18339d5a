"""The way from a text to a token as boxes that open; everything in it is text, never markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import platform
from pages.ui.inside.boxes import Picture
from pages.ui.widgets import style
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_KEY = "inside-way"
_component = component(
    "inside_way",
    html='<div class="way"></div>',
    css=source("inside/way.css"),
    js=source("inside/way.js"),
)


def draw(picture: Picture, shown: str, code: str, on_source: Callable[[str], None]) -> None:
    """Draw the boxes.

    Args:
        shown: the row whose source is shown; empty for none.
        code: its source.
        on_source: gets the row whose source is asked for; the one that is shown hides it.
    """

    def clicked() -> None:
        row: Any = (st.session_state.get(platform.key(_KEY)) or {}).get("source")
        if isinstance(row, str) and row in picture.places:
            on_source(row)

    _component(
        key=platform.key(_KEY),
        data={
            "before": tuple(picture.before),
            "prompt": picture.prompt,
            "loop": picture.loop,
            "inside": tuple(picture.inside),
            "after": tuple(picture.after),
            "mark": style.theme().accent,
            "shown": shown,
            "code": code,
            "drawn": drawn_at(),
        },
        on_source_change=clicked,
    )
