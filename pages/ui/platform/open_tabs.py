"""Tab that a visitor opened last, in each row of tabs.

An answer of the server names the open tab. Streamlit's browser code opens that tab although the
visitor has opened another one meanwhile, and reports it with the next request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value


def keep_open_tabs() -> None:
    """Keep the tab that a visitor opened last open from now on; for the whole server."""
    if getattr(AppSession, "_keeps_open_tabs", False):
        return
    ask, send = AppSession.request_rerun, AppSession._enqueue_forward_msg

    @wraps(ask)
    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        if client_state:
            vars(self).setdefault("_open_tabs", OpenTabs()).read(client_state)
        ask(self, client_state)

    @wraps(send)
    def enqueue(self: AppSession, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "delta":
            vars(self).setdefault("_open_tabs", OpenTabs()).write(msg)
        send(self, msg)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    AppSession._enqueue_forward_msg = enqueue  # type: ignore[method-assign]
    AppSession._keeps_open_tabs = True  # type: ignore[attr-defined]


@dataclass
class _Row:
    """One row of tabs.

    Args:
        opened: index of the open tab.
        named: index of the tab that the last answer named.
        unanswered: indices of tabs that the visitor opened after that, oldest first.
    """

    opened: int
    named: int
    titles: list[str] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)

    def answer(self, index: int) -> int:
        """Return the tab that an answer has to name in place of `index`."""
        if index in self.unanswered:
            del self.unanswered[: self.unanswered.index(index) + 1]
        elif index != self.named:
            # The server opens a tab by itself.
            self.opened = index
            self.unanswered.clear()
        if self.unanswered:
            index = self.opened
        self.named = index
        return index


class OpenTabs:
    """The rows of tabs of one session."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._at: dict[tuple[int, ...], _Row] = {}
        self._page = ""

    def read(self, asked: ClientState) -> None:
        """Read the open tabs from a request, or set them where no press of a tab sent it."""
        if self._page not in ("", asked.page_script_hash):
            self._rows.clear()
        self._page = asked.page_script_hash
        widgets = asked.widget_states.widgets
        is_press = not (asked.is_auto_rerun or any(map(_has_active_trigger_value, widgets)))
        for widget in widgets:
            row = self._rows.get(widget.id)
            if row is None or widget.string_value not in row.titles:
                continue
            index = row.titles.index(widget.string_value)
            if is_press and index != row.opened:
                row.opened = index
                row.unanswered.append(index)
            widget.string_value = row.titles[row.opened]

    def write(self, message: ForwardMsg) -> None:
        """Let an answer to an earlier request name the tab that is open."""
        block, path = message.delta.add_block, tuple(message.metadata.delta_path)
        if block.WhichOneof("type") == "tab_container":
            tabs = block.tab_container
            named = tabs.default_tab_index
            # The titles are part of the identifier.
            row = self._at[path] = self._rows.setdefault(tabs.id, _Row(named, named))
            tabs.default_tab_index = row.answer(named)
        elif block.WhichOneof("type") == "tab":
            row = self._at.get(path[:-1], _Row(0, 0))
            if len(row.titles) == path[-1]:
                row.titles.append(block.tab.label)
