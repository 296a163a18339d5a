"""Error boundary for pages, fragments and callbacks.

The rest of the app goes on. The visitor reads one sentence and can try again; the traceback goes
to the server's stderr.
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
from core.language import N_, tr, use
from pages.ui.platform import reader, slot
from pages.ui.platform.unconfirmed import Unconfirmed
from pages.ui.platform.uninterrupted import critical

P = ParamSpec("P")
UNEXPECTED = N_("Something went wrong in the app. The details are in the log of the server.")
# Key of the session's state: the page that code has turned to, until the browser shows it.
TURNING = "turning"
# Keys of the session's state: a callback's error, the traceback logged last, the shown page.
_FAILED, _LOGGED, _SHOWN = "callback_failed", "failure_logged", "page_shown"
_words: Callable[[DecodingError], str] = str


def explain_by(words: Callable[[DecodingError], str]) -> None:
    """Set the function that words this app's own errors, for the whole server."""
    global _words
    _words = words


def failed_callback() -> str | None:
    """Return the error of a callback since the page was drawn last, and forget it."""
    failed: str | None = st.session_state.pop(_FAILED, None)
    return failed


def guarded(draw: Callable[P, None]) -> Callable[P, None]:
    """Wrap a fragment's `draw`: on an error, draw a sentence and a button that tries again."""

    @wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> None:
        try:
            draw(*args, **named)
        except Exception as error:
            say(sentence(error))
            st.button(
                tr("Try again"), key=f"again-{ThreadState.get().fragment_id}", type="tertiary"
            )

    return drawn


def is_alone() -> bool:
    """Return whether a fragment runs by itself, without the rest of its page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def guard_callbacks(before_full_rerun: Callable[[], None]) -> None:
    """Run callbacks in their slot, without interruption, and catch their errors, server-wide.

    Streamlit would show the error in place of the page. It also loses a press if the next request
    comes before the press was handled. It has no hook for either.

    Args:
        before_full_rerun: called when a callback ends in a full rerun, as the next request may come
            before that rerun begins.
    """
    if getattr(SessionState, "_guarded", False):
        return
    call = SessionState._run_callback_and_record_rerun

    def run_callback(self: SessionState, votes: Any, run: Callable[[], None]) -> None:
        def attempt() -> None:
            with critical(), use(reader.language()):
                try:
                    run()
                except RerunException as rerun:
                    if not rerun.rerun_data.fragment_id_queue:
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
            callback, several = widget_metadata.callback, widget_metadata.callbacks
            bound = several and {event: slot.bound(call) for event, call in several.items()}
            bound_one = callback and slot.bound(callback)
            widget_metadata = replace(widget_metadata, callback=bound_one, callbacks=bound)
        register(self, widget_metadata)

    SessionState._set_widget_metadata = register_bound  # type: ignore[method-assign]
    SafeSessionState.on_script_will_rerun = take_over  # type: ignore[method-assign]
    SessionState._run_callback_and_record_rerun = run_callback  # type: ignore[method-assign]
    SessionState._guarded = True  # type: ignore[attr-defined]


class _Navigation(NamedTuple):
    """State of a browser after its last rerun request.

    Args:
        sent: IDs of the widgets whose values the request sent.
        left: the page that the request left; None if it stayed on its page.
        exclusive: IDs of the widgets that only that page has; a request for another page doesn't
            send them.
        shared: IDs of the shared frame's widgets; a request for another page sends them.
    """

    sent: frozenset[str] = frozenset()
    left: str | None = None
    exclusive: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def is_back(self, request: ClientState, shown: str) -> bool:
        """Return whether a request for another page than `shown` comes from a browser that no
        longer has the widgets of its request before."""
        sent = {widget.id for widget in request.widget_states.widgets}
        return request.page_script_hash != shown and not self.sent <= sent

    def after(self, request: ClientState, shown: str) -> _Navigation | None:
        """Return the state after another request; None if that request must be dropped.

        Args:
            shown: the page that runs or ran last.
        """
        page, of_a_part = request.page_script_hash, _is_of_a_part(request)
        sent = frozenset(widget.id for widget in request.widget_states.widgets)
        if of_a_part and page != shown:
            return None
        if page == self.left and (of_a_part or sent & self.exclusive):
            return None
        if page == shown:
            return _Navigation(sent, shared=self.shared)
        before = self.exclusive if self.left == shown else frozenset()
        shared = self.shared | sent
        return _Navigation(sent, shown, (before | self.sent) - shared, shared)


def guard_pages() -> None:
    """Drop late rerun requests of a page that the user has left, for the whole server.

    Until the next page arrives, the browser still sends requests of the previous one: a timer ends,
    a figure reports that it is drawn, a menu closes. Streamlit would return to that page, or run
    its fragment after the next page: the browser clears a page if an answer names another. A rerun
    that the previous page's script starts would cancel the change of page, too.
    """
    if getattr(AppSession, "_guarded", False):
        return
    ask = AppSession.request_rerun

    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        sent = client_state
        if sent:
            Unconfirmed.of(self.session_state).hear(sent)
        if sent and sent.page_script_hash and _SHOWN in self.session_state:
            way, shown = getattr(self, "_way", _Navigation()), self.session_state[_SHOWN]
            # Back from the page that code has turned to; a late request has all earlier widgets.
            if TURNING in self.session_state and way.is_back(sent, shown):
                del self.session_state[TURNING]
            state = way.after(sent, shown)
            # Streamlit would log each request of a removed fragment, a line per tick of a timer.
            if state is None or (sent.fragment_id and not self.has_fragment(sent.fragment_id)):
                return
            self._way = state  # type: ignore[attr-defined]
        ask(self, sent)

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
    """Draw the page from its root, whatever this thread has drawn before.

    If the request for the page comes while a fragment ends, Streamlit leaves the thread inside that
    fragment: the page would be drawn in the fragment's place, and the browser would show nothing.
    """
    context_dg_stack.set(get_default_dg_stack_value())


def remember_page() -> None:
    """Store the running page in the session's state."""
    context = get_script_run_ctx()
    if context is not None and st.session_state.get(_SHOWN) != context.page_script_hash:
        st.session_state[_SHOWN] = context.page_script_hash


def _is_of_a_part(sent: ClientState) -> bool:
    """Return whether a fragment or trigger sent the request, not a change of page."""
    widgets = sent.widget_states.widgets
    return bool(sent.fragment_id) or any(map(_has_active_trigger_value, widgets))


def sentence(error: Exception) -> str:
    """Return an error's message for the visitor; log it once, however often it is drawn."""
    if isinstance(error, DecodingError):
        return _words(error)
    details = "".join(traceback.format_exception(error))
    if st.session_state.get(_LOGGED) != details:
        st.session_state[_LOGGED] = details
        print(details, file=sys.stderr)
    return tr(UNEXPECTED)


def say(sentence: str) -> None:
    """Draw an error's sentence."""
    with st.container(horizontal=True, wrap=False, gap="small"):
        st.markdown(":material/error:", width="content")
        st.text(sentence, width="stretch")
