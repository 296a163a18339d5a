"""Prompt and text of a run as plain text, to read and to copy."""

from __future__ import annotations

import streamlit as st

from core.decoding.record.trace import Trace
from core.language import tr
from pages.ui import platform

# Maximum height in px; a longer text scrolls.
_HEIGHT = 420


def menu(trace: Trace) -> None:
    """Draw the button that opens the text; it moves nothing on the page."""
    popover = st.popover(
        tr("Text"),
        icon=":material/notes:",
        type="tertiary",
        key=platform.key("plain_text"),
        on_change="rerun",
    )
    if not popover.open:
        return
    text = (trace.rendered_prompt or trace.prompt) + trace.text
    with (
        popover,
        st.container(
            key=platform.key("plain-text"), height=_HEIGHT if len(text) > 900 else "content"
        ),
    ):
        st.code(text, language=None, wrap_lines=True)
