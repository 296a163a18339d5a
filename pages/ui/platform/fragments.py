"""Fragments: parts of a page that rerun by themselves, by their keys.

A whole page is a hundred elements, and each costs the browser time. A fragment that a gesture
reruns stays pending until it is drawn, as the next gesture may come first and rerun others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec

import streamlit as st
from streamlit import runtime
from streamlit.errors import StreamlitAPIException
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from pages.ui.platform import guard, session, slot
from pages.ui.platform.uninterrupted import critical

P = ParamSpec("P")

_MOUNTED_ON = "fragments_mounted_on"
_FILES = "fragments_files"
_OWED = "fragments_owed"


def part(draw: Callable[P, None], **options: Any) -> Callable[P, None]:
    """Return a fragment with an error boundary; `options` are those of `st.fragment`."""
    if "key" in options:
        options["key"] = slot.key(options["key"])

    @wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> None:
        draw(*args, **named)
        _owed().discard(str(options.get("key")))

    mounted: Callable[P, None] = st.fragment(slot.bound(guard.guarded(drawn)), **options)
    return mounted


@critical()
def reset() -> None:
    """Mark all fragments as unmounted: until a full rerun ends, a gesture causes another one."""
    st.session_state.pop(_MOUNTED_ON, None)
    st.session_state.pop(_FILES, None)


@critical()
def mark_ready() -> None:
    """Mark every fragment of this page as mounted."""
    _owed().clear()
    st.session_state[_MOUNTED_ON] = _page()
    with _files() as files:
        offered = files[_session()]
    st.session_state[_FILES] = offered


def rerun(*keys: str) -> None:
    """End a callback: rerun these and all pending fragments, or the page if none is mounted.

    If another page is being opened, do nothing.
    """
    mounted_on, keys = st.session_state.get(_MOUNTED_ON), tuple(map(slot.key, keys))
    if mounted_on is None:
        st.rerun()
    if mounted_on == _page():
        _keep_files()
        _owed().update(keys)
        st.rerun([*keys, *(key for key in _owed().difference(keys) if _is_mounted(key))])


def _owed() -> set[str]:
    """Return the keys of fragments that a user's action reruns and that are not drawn yet."""
    return session.keep(_OWED, set[str])


def _is_mounted(key: str) -> bool:
    context = get_script_run_ctx()
    with suppress(StreamlitAPIException):
        return context is not None and bool(context.fragment_storage.resolve_target(key))
    return False


def _keep_files() -> None:
    """Keep the files that the page offers for download.

    Streamlit drops a session's files before a callback that begins a full rerun, and fragments
    alone offer few of them again.
    """
    offered = st.session_state.get(_FILES)
    if offered is not None:
        with _files() as files:
            files[_session()] = offered


def poll(draw: Callable[P, None], seconds: Callable[[], float]) -> Callable[P, None]:
    """Return a fragment that reruns on a timer; the interval is read again at each run.

    Args:
        seconds: gives the interval in seconds.
    """
    sent = [seconds()]

    @wraps(draw)
    def run(*args: P.args, **named: P.kwargs) -> None:
        draw(*args, **named)
        interval = seconds()
        if interval != sent[0]:
            sent[0] = interval
            _set_interval(interval)

    return part(run, run_every=sent[0])


def _set_interval(seconds: float) -> None:
    """Set the interval of the browser's timer for the running fragment."""
    context, fragment_id = get_script_run_ctx(), ThreadState.get().fragment_id
    if context is not None and fragment_id is not None:
        message = ForwardMsg()
        message.auto_rerun.interval = seconds
        message.auto_rerun.fragment_id = fragment_id
        context.enqueue(message)


@contextmanager
def _files() -> Iterator[dict[str, dict[str, str]]]:
    """Yield each session's download files by their place on the page, under Streamlit's lock.

    Without the lock, another session's script that iterates over the table would raise.
    """
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        yield manager._files_by_session_and_coord


def _session() -> str:
    return session.current() or ""


def _page() -> str:
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""
