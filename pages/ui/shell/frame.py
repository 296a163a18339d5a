"""The frame of a page: what one sees on it, and where its controls stand."""

from __future__ import annotations

import streamlit as st

from pages.ui import platform


def intro(title: str, words: str) -> None:
    """What one sees on the page, in two sentences."""
    with st.container(key=platform.key("intro"), gap="small"):
        st.title(title, anchor=False)
        st.markdown(words)


def controls() -> st.delta_generator.DeltaGenerator:
    """The place of the page's controls."""
    return st.container(key=platform.key("controls"), gap="small")


def desk() -> st.delta_generator.DeltaGenerator:
    """A page whose knobs stand beside what they change; holds `intro`, `rail` and `bench`."""
    return st.container(key=platform.key("desk"))


def rail() -> st.delta_generator.DeltaGenerator:
    """The place of the controls and knobs: it stays in sight while the bench scrolls."""
    return st.container(key=platform.key("rail"), gap="small")


def bench() -> st.delta_generator.DeltaGenerator:
    """The place of what the knobs change."""
    return st.container(key=platform.key("bench"))


def row(key: str = "method-row") -> st.delta_generator.DeltaGenerator:
    """Their first row."""
    return st.container(
        key=platform.key(key), horizontal=True, vertical_alignment="center", gap="medium"
    )
