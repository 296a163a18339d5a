"""A page's part of the address, stored while other pages are shown.

Streamlit clears it when the user leaves the page. It is restored when the user comes back by the
tabs or the browser's Back, so that the address fits what the page shows.
"""

from __future__ import annotations

from typing import TypeAlias

import streamlit as st

from pages.ui import platform
from pages.ui.platform import session
from pages.ui.run import shared
from pages.ui.widgets.controls import rail

# Name of the open lesson, on whatever page its step is.
LESSON = "lesson"
# The sidebar's and the lesson's, which every page keeps by itself.
_SHARED = {LESSON, *(row.key for row in shared.ROWS)}
_ENTERED = "page_entered"
_Part: TypeAlias = dict[str, list[str]]


def keep() -> None:
    """Remember the address of the page at the end of its run."""
    _kept()[str(st.session_state.get("page_before", ""))] = _part()


def write(name: str, word: str | None) -> None:
    """Write a value into the address under a name of the current slot; None removes it."""
    session.write_address(platform.key(name), word)


def forget(page: str) -> None:
    """Forget the stored address of a page."""
    _kept().pop(page, None)


def bring_back(page: str) -> None:
    """Restore the address of a page that was just opened, and rerun.

    Call it before a control is drawn: a control reads the address that its run began with.
    """
    before = st.session_state.get("page_before")
    st.session_state["page_before"] = page
    if page != before:
        st.session_state[_ENTERED] = True
    stored, current = _kept().get(page), _part()
    if stored is None or page == before:
        return
    # Knobs that pages share write their own value as soon as they are drawn.
    restored = {name: words for name, words in stored.items() if name not in rail.known()}
    for name in current.keys() - restored.keys():
        del st.query_params[name]
    st.query_params.update(
        {name: words for name, words in restored.items() if current.get(name) != words}
    )
    st.rerun()


def was_entered() -> bool:
    """Return whether the page was just opened, and reset the flag."""
    return bool(st.session_state.pop(_ENTERED, False))


def _part() -> _Part:
    return {name: st.query_params.get_all(name) for name in st.query_params if name not in _SHARED}


def _kept() -> dict[str, _Part]:
    return platform.keep("addresses", dict[str, _Part])
