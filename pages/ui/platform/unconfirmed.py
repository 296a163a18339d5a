"""Values that code has given to widgets, until the browser returns them.

A browser sends the values of all its widgets with each request. One that is slow, or a request on
its way, still has those from before: Streamlit would take them for the user's, and a control that a
lesson, a file or an example has set would go back. Here such a value is kept, and sent again, until
the browser sends another one than those that it had before.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value
from streamlit.runtime.state.session_state import SessionState, WStates

# In the session's state, whose class takes no further attributes.
_KEY = "unconfirmed"


class Unconfirmed:
    """The record of one session.

    Args:
        taken: the browser's widget states that were taken last, serialized, by widget ID.
        received: the states of the browser's last request.
        earlier: serialized states that the browser had before, of each key whose value it has not
            returned.
    """

    def __init__(self) -> None:
        self.taken: dict[str, bytes] = {}
        self.received: dict[str, bytes] = {}
        self.earlier: dict[str, set[bytes]] = {}
        # The browser's requests come in on the server's thread, values are set on the script's.
        self.lock = Lock()

    @staticmethod
    def of(state: SessionState) -> Unconfirmed:
        """Return the record of a session."""
        record: Unconfirmed = state._old_state.setdefault(_KEY, Unconfirmed())
        return record

    def set(self, state: SessionState, key: str, value: Any) -> None:
        """Note that code is about to set the widget of a key: what the browser has is old."""
        widget = state._key_id_mapper.get_id_from_key(key, None)
        if widget not in self.taken or (key in state and state[key] == value):
            return
        with self.lock:
            earlier = self.earlier.setdefault(key, {self.taken[widget]})
            if (now := _serialized(state, widget)) is not None:
                earlier.add(now)

    def take(self, state: SessionState, reported: WidgetStates) -> WidgetStates:
        """Return a request's states without those from before; their widgets keep their values."""
        taken, states = WidgetStates(), {each.id: each for each in reported.widgets}
        with self.lock:
            for widget, each in states.items():
                key = state._key_id_mapper.id_key_mapping.get(widget, "")
                if each.SerializeToString() in self.earlier.get(key, ()) and key in state:
                    state._new_session_state[key] = state[key]
                else:
                    self.earlier.pop(key, None)
                    taken.widgets.append(each)
            self.taken |= {widget: each.SerializeToString() for widget, each in states.items()}
        return taken

    def hear(self, request: ClientState) -> None:
        """Take note of a request as it comes in.

        Where it has nothing new, and no timer has sent it, the user has set a widget to what it was
        before code set it.
        """
        widgets = request.widget_states.widgets
        received = {each.id: each.SerializeToString() for each in widgets}
        with self.lock:
            by_user = not (request.is_auto_rerun or any(map(_has_active_trigger_value, widgets)))
            if by_user and received == self.received:
                self.earlier.clear()
            self.received = received


def _serialized(state: SessionState, widget: str) -> bytes | None:
    """Return a widget's value as a browser would send it; None if it isn't known."""
    metadata = state._new_widget_state.widget_metadata
    if widget not in metadata or widget not in state:
        return None
    value = WStates(widget_metadata=metadata)
    value.set_from_value(widget, state[widget])
    serialized = value.get_serialized(widget)
    return None if serialized is None else serialized.SerializeToString()


def keep_set_values() -> None:
    """Keep what code sets until the browser returns it, for the whole server."""
    if getattr(SessionState, "_keeps_set_values", False):
        return
    set_item, take = SessionState.__setitem__, SessionState.set_widgets_from_proto

    def set_value(self: SessionState, user_key: str, value: Any) -> None:
        Unconfirmed.of(self).set(self, user_key, value)
        set_item(self, user_key, value)

    def take_over(self: SessionState, widget_states: WidgetStates) -> None:
        take(self, Unconfirmed.of(self).take(self, widget_states))

    SessionState.__setitem__ = set_value  # type: ignore[method-assign]
    SessionState.set_widgets_from_proto = take_over  # type: ignore[method-assign]
    SessionState._keeps_set_values = True  # type: ignore[attr-defined]
