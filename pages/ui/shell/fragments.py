"""Parts of a page that are drawn anew by themselves: fragments, by their keys.

A whole page is a hundred elements, and the browser pays for each of them.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_STANDING = "standing_on"


def fall() -> None:
    """The app is drawn whole: nothing of it stands; the first line of every run."""
    st.session_state.pop(_STANDING, None)


def stand() -> None:
    """Every part of the page stands now."""
    st.session_state[_STANDING] = _page()


def redraw(*keys: str) -> None:
    """End a callback so that only these parts are drawn anew; all where they don't stand.

    A control may still report its change while another page is being opened: that goes on.
    """
    standing = st.session_state.get(_STANDING)
    if standing is None:
        st.rerun()
    if standing == _page():
        st.rerun(list(keys))


def _page() -> str:
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""
