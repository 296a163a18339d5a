"""Session whose page is being drawn, and the browser's request for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

T = TypeVar("T")


def current() -> str | None:
    """Return the session whose page is being drawn; None outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else None


def keep(name: str, make: Callable[[], T]) -> T:
    """Return the session's value of a name; make and store it if there is none."""
    if name not in st.session_state:
        st.session_state[name] = make()
    value: T = st.session_state[name]
    return value


def has_server() -> bool:
    """Return whether a server runs; none does in tests and scripts."""
    return runtime.exists()


def is_connected(session: str | None) -> bool:
    """Return whether a browser shows the session; always true outside of a server."""
    if session is None or not runtime.exists():
        return True
    return runtime.get_instance().is_active_session(session)


def connected() -> int:
    """Return the number of sessions that a browser shows; 1 outside of a server."""
    # The runtime of `AppTest` manages no sessions.
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    return manager.num_active_sessions() if manager else 1


def query() -> str | None:
    """Return the query string of the browser's request for this run.

    Streamlit may drop its parameters whose controls are not drawn yet.
    """
    context = get_script_run_ctx()
    return context.query_string if context else None


def browser_url() -> str:
    """Return the address that the browser showed when it requested this run; empty if unknown.

    `st.context.url` would name the page that is being run.
    """
    context = get_script_run_ctx()
    url = context.context_info.url if context and context.context_info else ""
    return url or ""


def browser_locale() -> str:
    """Return the tag of the browser's language, such as `ja-JP`; empty if unknown."""
    context = get_script_run_ctx()
    locale = context.context_info.locale if context and context.context_info else ""
    return locale or ""


def is_first(name: str) -> bool:
    """Return whether this is the first call for the name in a script run.

    Each run has its own cursors. Outside of a page it is always true.
    """
    context = get_script_run_ctx()
    if context is None:
        return True
    if getattr(context, f"_done_{name}", None) is context.cursors:
        return False
    setattr(context, f"_done_{name}", context.cursors)
    return True


def write_address(name: str, word: str | None) -> bool:
    """Set or remove a parameter of the address; an unchanged one isn't sent.

    Return False if the name belongs to a control that was drawn.
    """
    with suppress(StreamlitAPIException):
        if word is None:
            st.query_params.pop(name, None)
        elif st.query_params.get_all(name) != [word]:
            st.query_params[name] = word
        return True
    return False
