"""Messages of a run: the browser gets what it doesn't have yet."""

from __future__ import annotations

from inspect import unwrap
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.ui.platform import messages

THEMES = ("theme", "theme.light", "theme.dark", "theme.light.sidebar", "theme.dark.sidebar")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session whose messages wait in its queue; the patches end with the test."""
    for owner, name in (
        (app_session, "_populate_theme_msg"),
        (AppSession, "_enqueue_forward_msg"),
    ):
        # Another test may have started a server in this process.
        monkeypatch.setattr(owner, name, unwrap(getattr(owner, name)))
    monkeypatch.setattr(AppSession, "_sends_news_only", False, raising=False)
    return SimpleNamespace(_browser_queue=ForwardMsgQueue(), _message_enqueued_callback=None)


def begins(*parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.run.fragment_ids.extend(parts)
    message.new_session.page_script_hash = "page"
    message.new_session.custom_theme.primary_color = "#0072b2"
    message.new_session.app_pages.add(page_name="Decode")
    return message


def status(running: bool) -> ForwardMsg:
    message = ForwardMsg()
    message.session_status_changed.script_is_running = running
    return message


def polls(part: str) -> ForwardMsg:
    message = ForwardMsg()
    message.auto_rerun.fragment_id = part
    message.auto_rerun.interval = 0.15
    return message


def run(*parts: str) -> tuple[ForwardMsg, ...]:
    return begins(*parts), status(True), status(False)


def states_sent(session: Any, *sent: ForwardMsg) -> list[bool]:
    """The running states that the browser is told when the server sends these."""
    messages.send_news_only()
    for message in sent:
        AppSession._enqueue_forward_msg(session, message)
    queued = session._browser_queue.flush()
    changes = [m.session_status_changed for m in queued if m.HasField("session_status_changed")]
    return [change.script_is_running for change in changes]


def test_a_look_at_a_job_is_no_run_that_the_page_shows(session: Any) -> None:
    page = (begins(), status(True), polls("live"), status(False))
    assert states_sent(session, *page, *run("live"), *run("live")) == [True, False]
    # A gesture in a part is one, with a look too; the next page says anew what is polled.
    assert states_sent(session, *run("tab")) == [True, False]
    assert states_sent(session, *run("live", "tab")) == [True, False]
    assert states_sent(session, *run(), *run("live")) == [True, False, True, False]


def test_a_page_that_a_look_begins_anew_is_shown_as_running(session: Any) -> None:
    page = (begins(), status(True), polls("live"), status(False))
    look, after = run("live"), (begins(), status(True), status(False))
    assert states_sent(session, *page, *look, *after) == [True, False, True, False]


def test_a_part_s_run_carries_no_theme_and_no_pages(session: Any) -> None:
    messages.send_news_only()
    for message in (begins(), begins("live")):
        AppSession._enqueue_forward_msg(session, message)
    of_page, of_part = (message.new_session for message in session._browser_queue.flush())
    assert of_page.custom_theme.primary_color and len(of_page.app_pages) == 1
    assert not of_part.HasField("custom_theme") and not of_part.app_pages
    assert of_part.page_script_hash == "page"


def test_the_theme_is_read_once_and_is_the_same_in_every_message(session: Any) -> None:  # noqa: ARG001
    read, sections = app_session._populate_theme_msg, list[str]()

    def counted(message: Any, section: str = "theme") -> None:
        sections.append(section)
        read(message, section)

    app_session._populate_theme_msg = counted
    messages.send_news_only()

    def built(fill: Any) -> NewSession:
        message = NewSession()
        theme = message.custom_theme
        parts = (theme, theme.light, theme.dark, theme.light.sidebar, theme.dark.sidebar)
        for part, section in zip(parts, THEMES, strict=True):
            fill(part, section)
        return message

    expected = built(read)
    assert expected.custom_theme.heading_font_sizes and expected.custom_theme.dark.sidebar
    assert all(built(app_session._populate_theme_msg) == expected for _ in range(3))
    assert sections == list(THEMES)
