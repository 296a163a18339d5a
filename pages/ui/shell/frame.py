"""Layout of a page: the introduction, and the containers of controls and figures."""

from __future__ import annotations

import streamlit as st

from core.language import tr
from pages.ui import platform
from pages.ui.shell import glossary


def intro(title: str, words: str) -> None:
    """Draw the page's title and its description in two sentences."""
    with st.container(key=platform.key("intro"), gap="small"):
        st.title(tr(title), anchor=False)
        st.markdown(glossary.marked(tr(words)))


def controls() -> st.delta_generator.DeltaGenerator:
    """Return the container of the page's controls."""
    return st.container(key=platform.key("controls"), gap="small")


def page_columns() -> st.delta_generator.DeltaGenerator:
    """Return the container of a page with knobs beside figures, for `intro`, `controls_column` and
    `figures_column`."""
    return st.container(key=platform.key("desk"))


def controls_column() -> st.delta_generator.DeltaGenerator:
    """Return the column of controls and knobs, which stays in sight while the figures scroll."""
    return st.container(key=platform.key("rail"), gap="small")


def figures_column() -> st.delta_generator.DeltaGenerator:
    """Return the column of the figures that the knobs change."""
    return st.container(key=platform.key("bench"))


def controls_row(key: str = "method-row") -> st.delta_generator.DeltaGenerator:
    """Return the container of the controls' first row."""
    return st.container(
        key=platform.key(key), horizontal=True, vertical_alignment="center", gap="medium"
    )
