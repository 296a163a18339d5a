"""Containers that a visitor opened last: a tab of each row of tabs, a popover or none.

An answer of the server says what is open. Streamlit's browser code applies it even if the visitor
has opened another tab or a popover meanwhile, and reports that state with the next request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value


def keep_opened() -> None:
    """Keep the containers open that a visitor opened last, for the whole server."""
    if getattr(AppSession, "_keeps_opened", False):
        return
    ask, send = AppSession.request_rerun, AppSession._enqueue_forward_msg

    @wraps(ask)
    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        if client_state:
            vars(self).setdefault("_opened", Opened()).read(client_state)
        ask(self, client_state)

    @wraps(send)
    def enqueue(self: AppSession, msg: ForwardMsg) -> None:
        kind = msg.WhichOneof("type")
        if kind == "delta":
            vars(self).setdefault("_opened", Opened()).write(msg)
        elif kind == "new_session":
            vars(self).setdefault("_opened", Opened()).begin(msg.new_session.page_script_hash)
        send(self, msg)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    AppSession._enqueue_forward_msg = enqueue  # type: ignore[method-assign]
    AppSession._keeps_opened = True  # type: ignore[attr-defined]


@dataclass
class _Container:
    """A row of tabs or a popover.

    Args:
        opened: index of the open tab; for a popover, whether it is open.
        named: the same in the last answer.
        titles: titles of the tabs.
        unanswered: values of `opened` that the visitor chose after that answer, oldest first.
    """

    opened: int
    named: int
    titles: list[str] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)

    def press(self, opened: int) -> None:
        """Record the visitor's choice."""
        if opened != self.opened:
            self.opened = opened
            self.unanswered.append(opened)

    def answer(self, opened: int) -> int:
        """Return the value that an answer must name in place of `opened`."""
        if opened in self.unanswered:
            del self.unanswered[: self.unanswered.index(opened) + 1]
        elif opened != self.named:
            # The server opens it by itself.
            self.opened = opened
            self.unanswered.clear()
        self.named = self.opened if self.unanswered else opened
        return self.named


class Opened:
    """The tabs and popovers of one session, by their identifiers."""

    def __init__(self) -> None:
        self._containers: dict[str, _Container] = {}
        self._tabs: dict[tuple[int, ...], _Container] = {}
        self._page = ""

    def begin(self, page: str) -> None:
        """Forget the containers of the previous page."""
        if page != self._page:
            self._page = page
            self._containers.clear()

    def read(self, request: ClientState) -> None:
        """Read the open containers from a request, or set them if no press sent the request."""
        widgets = request.widget_states.widgets
        is_press = not (request.is_auto_rerun or any(map(_has_active_trigger_value, widgets)))
        for widget in widgets:
            container = self._containers.get(widget.id)
            if container is None:
                continue
            if not container.titles:
                if is_press:
                    container.press(widget.bool_value)
                widget.bool_value = bool(container.opened)
            elif widget.string_value in container.titles:
                if is_press:
                    container.press(container.titles.index(widget.string_value))
                widget.string_value = container.titles[container.opened]

    def write(self, message: ForwardMsg) -> None:
        """Write the open containers into an answer to an earlier request."""
        block, path = message.delta.add_block, tuple(message.metadata.delta_path)
        kind = block.WhichOneof("type")
        if kind == "tab_container":
            row = block.tab_container
            self._tabs.pop(path, None)
            if row.id:
                tabs = self._tabs[path] = self._of(row.id, row.default_tab_index)
                row.default_tab_index = tabs.answer(row.default_tab_index)
        elif kind == "tab":
            # The titles are part of the identifier.
            known = self._tabs.get(path[:-1])
            if known and len(known.titles) == path[-1]:
                known.titles.append(block.tab.label)
        elif kind == "popover" and block.popover.id:
            popover = self._of(block.popover.id, block.popover.open)
            block.popover.open = bool(popover.answer(block.popover.open))

    def _of(self, name: str, opened: int) -> _Container:
        return self._containers.setdefault(name, _Container(opened, opened))
