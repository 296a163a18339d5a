"""A container that the visitor opened last stays open, despite answers to earlier presses."""

from __future__ import annotations

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.ui.platform.containers import Opened

TITLES = ["Uncertainty", "Time", "Prompt"]


class Browser:
    """A browser that opens the tab that an answer names, as Streamlit's does."""

    def __init__(self) -> None:
        self.tabs, self.shown, self._named = Opened(), "", -1

    def get(self, title: str) -> None:
        """Get the answer of a run in which this tab was open."""
        row = ForwardMsg()
        row.metadata.delta_path.extend([0, 2])
        row.delta.add_block.tab_container.id = "look"
        row.delta.add_block.tab_container.default_tab_index = TITLES.index(title)
        self.tabs.write(row)
        for place, label in enumerate(TITLES):
            tab = ForwardMsg()
            tab.metadata.delta_path.extend([0, 2, place])
            tab.delta.add_block.tab.label = label
            self.tabs.write(tab)
        named = row.delta.add_block.tab_container.default_tab_index
        if named != self._named:
            self._named, self.shown = named, TITLES[named]

    def press(self, title: str) -> None:
        self.shown = title
        assert self.ask() == title

    def ask(self, *, auto: bool = False, trigger: bool = False) -> str:
        """Return the tab that the server reads from a request."""
        request = ClientState(page_script_hash="decode", is_auto_rerun=auto)
        request.widget_states.widgets.add(id="look", string_value=self.shown)
        if trigger:
            request.widget_states.widgets.add(id="drawn", trigger_value=True)
        self.tabs.read(request)
        return request.widget_states.widgets[0].string_value


def opened() -> Browser:
    browser = Browser()
    browser.ask()
    browser.get("Uncertainty")
    return browser


def test_an_answer_to_an_earlier_press_opens_no_tab() -> None:
    browser = opened()
    browser.press("Time")
    browser.press("Prompt")
    # A run that had begun before both presses, and those that answer them.
    for title in ("Uncertainty", "Time", "Prompt"):
        browser.get(title)
        assert browser.shown == browser.ask(auto=True) == "Prompt"


def test_a_request_that_no_press_sent_tells_of_no_tab_that_an_answer_opened() -> None:
    browser = opened()
    browser.press("Time")
    browser.get("Time")
    browser.press("Prompt")
    # The answer to the press of Time comes late: the browser has gone back to it.
    browser.shown = "Time"
    assert browser.ask(auto=True) == browser.ask(trigger=True) == "Prompt"
    browser.get("Prompt")
    assert browser.shown == browser.ask(trigger=True) == "Prompt"


def test_a_tab_that_the_server_opens_is_open() -> None:
    browser = opened()
    browser.press("Time")
    browser.get("Time")
    browser.get("Prompt")
    assert browser.shown == browser.ask(auto=True) == "Prompt"
    browser.press("Time")
    browser.get("Time")
    assert browser.shown == "Time"


def test_a_page_that_is_left_forgets_a_press_that_nothing_has_answered() -> None:
    browser = opened()
    browser.press("Time")
    browser.tabs.begin("beam")
    browser.tabs.begin("decode")
    browser.get("Uncertainty")
    browser.press("Prompt")
    browser.get("Prompt")
    assert browser.shown == "Prompt"


def test_a_popover_that_is_opened_again_stays_open_and_one_that_was_closed_stays_closed() -> None:
    opened = Opened()

    def answer(is_open: bool) -> bool:
        message = ForwardMsg()
        message.delta.add_block.popover.id = "export"
        message.delta.add_block.popover.open = is_open
        opened.write(message)
        return message.delta.add_block.popover.open

    def ask(is_open: bool, *, auto: bool = False) -> bool:
        request = ClientState(page_script_hash="decode", is_auto_rerun=auto)
        request.widget_states.widgets.add(id="export", bool_value=is_open)
        opened.read(request)
        return request.widget_states.widgets[0].bool_value

    assert not answer(is_open=False)
    assert ask(is_open=True) and answer(is_open=True)
    assert not ask(is_open=False) and ask(is_open=True)
    # The press that closed it is answered after it was opened again.
    assert answer(is_open=False) and ask(is_open=False, auto=True) and answer(is_open=True)
    assert not ask(is_open=False) and not answer(is_open=False)
