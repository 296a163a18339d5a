"""What nobody expected to fail: a page, a fragment or a callback that raises.

The rest of the app stands. The visitor reads one sentence and gets a way on; what happened goes to
the server's stderr.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import streamlit as st
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequests,
    ScriptRequestType,
    _has_active_trigger_value,
)
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from core.decoding.errors import DecodingError
from pages.ui.platform import slot
from pages.ui.platform.uninterrupted import critical

P = ParamSpec("P")
UNEXPECTED = "Something went wrong in the app. The details are in the log of the server."
# In the session's state: what a callback failed with, what was logged last, the page that is shown.
_FAILED, _LOGGED, _SHOWN = "callback_failed", "failure_logged", "page_shown"
_words: Callable[[DecodingError], str] = str


def explain_by(words: Callable[[DecodingError], str]) -> None:
    """Say errors of ours in these words from now on; for the whole server."""
    global _words
    _words = words


def failed_callback() -> str | None:
    """Return why a callback has failed since the page was drawn last; says so once."""
    failed: str | None = st.session_state.pop(_FAILED, None)
    return failed


def guarded(draw: Callable[P, None]) -> Callable[P, None]:
    """What draws a fragment; where it fails it says so, with a button that tries again."""

    @wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> None:
        try:
            draw(*args, **named)
        except Exception as error:
            say(sentence(error))
            st.button("Try again", key=f"again-{ThreadState.get().fragment_id}", type="tertiary")

    return drawn


def is_alone() -> bool:
    """Whether a fragment is run by itself, not with all of its page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def guard_callbacks(before_full_rerun: Callable[[], None]) -> None:
    """From now on callbacks run in their slot and to their end, and one that fails ends there; for
    the whole server.

    Streamlit would show the error in place of the page. And it forgets a press where the next
    request comes before the press was looked at. It offers no hook around either.

    Args:
        before_full_rerun: called as soon as a callback has ended in one: the next request may come
            before that has begun.
    """
    if getattr(SessionState, "_guarded", False):
        return
    call = SessionState._run_callback_and_record_rerun

    def run_callback(self: SessionState, votes: Any, run: Callable[[], None]) -> None:
        def attempt() -> None:
            with critical():
                try:
                    run()
                except RerunException as asked:
                    if not asked.rerun_data.fragment_id_queue:
                        before_full_rerun()
                    raise
                except Exception as error:
                    st.session_state[_FAILED] = sentence(error)
                if not is_alone():
                    before_full_rerun()

        call(self, votes, attempt)

    begin = SafeSessionState.on_script_will_rerun

    def take_over(self: SafeSessionState, *reported: Any, **named: Any) -> None:
        with critical():
            begin(self, *reported, **named)

    register = SessionState._set_widget_metadata

    def register_bound(self: SessionState, widget_metadata: WidgetMetadata[Any]) -> None:
        if slot.current().prefix:
            one, several = widget_metadata.callback, widget_metadata.callbacks
            bound = several and {event: slot.bound(call) for event, call in several.items()}
            bound_one = one and slot.bound(one)
            widget_metadata = replace(widget_metadata, callback=bound_one, callbacks=bound)
        register(self, widget_metadata)

    SessionState._set_widget_metadata = register_bound  # type: ignore[method-assign]
    SafeSessionState.on_script_will_rerun = take_over  # type: ignore[method-assign]
    SessionState._run_callback_and_record_rerun = run_callback  # type: ignore[method-assign]
    SessionState._guarded = True  # type: ignore[attr-defined]


class _Way(NamedTuple):
    """What a browser asked for last.

    Args:
        told: the widgets whose values it told.
        left: the page that it left with that; None where it stayed.
        own: that page's own widgets. Who goes to a page doesn't tell of them.
        shared: those of the frame around all pages: whoever went to a page told of them.
    """

    told: frozenset[str] = frozenset()
    left: str | None = None
    own: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def after(self, asked: ClientState, shown: str) -> _Way | None:
        """What is known with another request; None where that is not to be answered.

        Args:
            shown: the page that runs or ran last.
        """
        page, of_a_part = asked.page_script_hash, _is_of_a_part(asked)
        told = frozenset(widget.id for widget in asked.widget_states.widgets)
        if of_a_part and page != shown:
            return None
        if page == self.left and (of_a_part or told & self.own):
            return None
        if page == shown:
            return _Way(told, shared=self.shared)
        before = self.own if self.left == shown else frozenset()
        shared = self.shared | told
        return _Way(told, shown, (before | self.told) - shared, shared)


def guard_pages() -> None:
    """From now on who leaves a page leaves it, whatever it still asks for; for the whole server.

    Until the next page has come a browser goes on with the one before: a timer ends, a figure says
    that it is drawn, a menu closes. Streamlit would go back to that page, or run its part after the
    next page: the browser empties a page whose answer has another's name. Nor would it go on where
    the page that is left begins itself anew.
    """
    if getattr(AppSession, "_guarded", False):
        return
    ask = AppSession.request_rerun

    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        asked = client_state
        if asked and asked.page_script_hash and _SHOWN in self.session_state:
            way = getattr(self, "_way", _Way()).after(asked, self.session_state[_SHOWN])
            # Streamlit would log a part that is gone, a line for each tick of a timer.
            if way is None or (asked.fragment_id and not self.has_fragment(asked.fragment_id)):
                return
            self._way = way  # type: ignore[attr-defined]
        ask(self, asked)

    fold = ScriptRequests._request_rerun_locked

    def fold_in(self: ScriptRequests, new_data: RerunData) -> bool:
        context, waiting = get_script_run_ctx(suppress_warning=True), self._rerun_data
        goes = self._state is ScriptRequestType.RERUN and waiting.page_script_hash
        if context and goes and new_data.page_script_hash == context.page_script_hash != goes:
            return True
        return fold(self, new_data)

    ScriptRequests._request_rerun_locked = fold_in  # type: ignore[method-assign]
    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    AppSession._guarded = True  # type: ignore[attr-defined]


def begin_at_root() -> None:
    """Draw the page from its root on, whatever this thread has drawn before.

    Streamlit leaves a thread inside the fragment that it ran last, where the request for the page
    came as the fragment ended: the browser would get the page into that fragment's place, and show
    nothing.
    """
    context_dg_stack.set(get_default_dg_stack_value())


def remember_page() -> None:
    """The session's browser is told of the page that runs."""
    context = get_script_run_ctx()
    if context is not None and st.session_state.get(_SHOWN) != context.page_script_hash:
        st.session_state[_SHOWN] = context.page_script_hash


def _is_of_a_part(asked: ClientState) -> bool:
    """Whether something on a page asks, not whoever goes to a page."""
    told = asked.widget_states.widgets
    return bool(asked.fragment_id) or any(map(_has_active_trigger_value, told))


def sentence(error: Exception) -> str:
    """An error as the visitor reads it; the log hears of it once, however often it is drawn."""
    if isinstance(error, DecodingError):
        return _words(error)
    details = "".join(traceback.format_exception(error))
    if st.session_state.get(_LOGGED) != details:
        st.session_state[_LOGGED] = details
        print(details, file=sys.stderr)
    return UNEXPECTED


def say(sentence: str) -> None:
    """Draw a sentence of an error."""
    with st.container(horizontal=True, wrap=False, gap="small"):
        st.markdown(":material/error:", width="content")
        st.text(sentence, width="stretch")
