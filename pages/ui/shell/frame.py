"""Pages belong into the frame of app.py, also when a fresh server is opened at a page's address.

Until app.py has run once in a server, Streamlit takes the folder `pages` for its older kind of
navigation and runs the addressed page alone, without navigation and sidebar.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager


def around() -> None:
    """Say that app.py runs in this session; its own line."""
    st.session_state["framed"] = True


def enter() -> None:
    """Start again through app.py where the page was run alone; the first line of every page.

    Each session is asked: several may have begun before the first one switched the server over.
    """
    if PagesManager.uses_pages_directory or "framed" not in st.session_state:
        PagesManager.uses_pages_directory = False
        st.rerun()


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
