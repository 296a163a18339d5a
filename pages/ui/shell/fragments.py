"""Parts of a page that are rerun by themselves: fragments, by their keys.

A whole page is a hundred elements, and the browser pays for each of them.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_MOUNTED_ON = "fragments_mounted_on"


def reset() -> None:
    """Full rerun started: no fragment is mounted yet. The first line of every run."""
    st.session_state.pop(_MOUNTED_ON, None)


def mark_ready() -> None:
    """Every fragment of this page is mounted now."""
    st.session_state[_MOUNTED_ON] = _page()


def rerun(*keys: str) -> None:
    """End a callback so that only these fragments are rerun; everything where none is mounted.

    A control may still report its change while another page is being opened: that goes on.
    """
    mounted_on = st.session_state.get(_MOUNTED_ON)
    if mounted_on is None:
        st.rerun()
    if mounted_on == _page():
        st.rerun(list(keys))


def _page() -> str:
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""
