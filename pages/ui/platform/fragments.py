"""Parts of a page that are rerun by themselves: fragments, by their keys.

A whole page is a hundred elements, and the browser pays for each of them. What a gesture wants
drawn is owed until it was: the next gesture may come before, and wants something else.
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
    """`st.fragment` for what may fail: the rest of the page stands. `options` are its own."""
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
    """A full rerun follows, or has started: until it is through, a gesture asks for another."""
    st.session_state.pop(_MOUNTED_ON, None)
    st.session_state.pop(_FILES, None)


@critical()
def mark_ready() -> None:
    """Every fragment of this page is mounted now."""
    _owed().clear()
    st.session_state[_MOUNTED_ON] = _page()
    with _files() as files:
        offered = files[_session()]
    st.session_state[_FILES] = offered


def rerun(*keys: str) -> None:
    """End a callback: rerun these fragments and those still owed, or the page if none is mounted.

    Where another page is being opened meanwhile, that goes on.
    """
    mounted_on, keys = st.session_state.get(_MOUNTED_ON), tuple(map(slot.key, keys))
    if mounted_on is None:
        st.rerun()
    if mounted_on == _page():
        _keep_files()
        _owed().update(keys)
        st.rerun([*keys, *(key for key in _owed().difference(keys) if _is_mounted(key))])


def _owed() -> set[str]:
    """The fragments that a gesture wants drawn anew, until they are."""
    return session.keep(_OWED, set[str])


def _is_mounted(key: str) -> bool:
    context = get_script_run_ctx()
    with suppress(StreamlitAPIException):
        return context is not None and bool(context.fragment_storage.resolve_target(key))
    return False


def _keep_files() -> None:
    """Keep what the page offers for download.

    Streamlit forgets a session's files before a callback that begins a full rerun, and fragments
    alone offer few of them again.
    """
    offered = st.session_state.get(_FILES)
    if offered is not None:
        with _files() as files:
            files[_session()] = offered


def poll(draw: Callable[P, None], seconds: Callable[[], float]) -> Callable[P, None]:
    """A part of the page that is run again by itself; how often is asked anew each time.

    Args:
        seconds: from one run of the part to the next.
    """
    told = [seconds()]

    @wraps(draw)
    def run(*args: P.args, **named: P.kwargs) -> None:
        draw(*args, **named)
        wanted = seconds()
        if wanted != told[0]:
            told[0] = wanted
            _tell(wanted)

    return part(run, run_every=told[0])


def _tell(seconds: float) -> None:
    """Give the browser's timer of the fragment that is running another interval."""
    context, fragment_id = get_script_run_ctx(), ThreadState.get().fragment_id
    if context is not None and fragment_id is not None:
        message = ForwardMsg()
        message.auto_rerun.interval = seconds
        message.auto_rerun.fragment_id = fragment_id
        context.enqueue(message)


@contextmanager
def _files() -> Iterator[dict[str, dict[str, str]]]:
    """The files that each session's page offers, by their place on it, while nobody else has them.

    Without the lock a script of another session that walks the table would die of a change.
    """
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        yield manager._files_by_session_and_coord


def _session() -> str:
    return session.current() or ""


def _page() -> str:
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""
