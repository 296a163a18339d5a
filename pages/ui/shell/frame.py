"""The frame of a page: what one sees on it, and where its controls stand."""

from __future__ import annotations

import streamlit as st


def intro(title: str, words: str) -> None:
    """What one sees on the page, in two sentences."""
    with st.container(key="intro", gap="small"):
        st.title(title, anchor=False)
        st.markdown(words)


def controls() -> st.delta_generator.DeltaGenerator:
    """The place of the page's controls."""
    return st.container(key="controls", gap="small")


def row(key: str = "method-row") -> st.delta_generator.DeltaGenerator:
    """Their first row."""
    return st.container(key=key, horizontal=True, vertical_alignment="center", gap="medium")
