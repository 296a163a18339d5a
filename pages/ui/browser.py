"""What a page needs of the browser: a history of pages, and numbers that stay in their range."""

from __future__ import annotations

import streamlit as st

from pages.ui.figure import source

_component = st.components.v2.component(
    "decoding_explorer.browser", html="", js=source("browser.js")
)


def prepare() -> None:
    """Tell the browser, once a run; nothing is shown."""
    with st.container(key="browser"):
        _component(key="prepared", data={})
