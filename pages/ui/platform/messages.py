"""Messages that the server sends with each run of a page or of a part of it."""

from __future__ import annotations

from functools import cache, wraps

from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession


def send_news_only() -> None:
    """Send no theme and no running state that the browser already has, for the whole server.

    Streamlit reads the theme from its options for each run (0.4 ms on the event loop), and sends
    the start and the end of a script run for each poll of a job.
    """
    if getattr(AppSession, "_sends_news_only", False):
        return
    read_theme = app_session._populate_theme_msg

    @cache
    def theme(section: str) -> CustomThemeConfig:
        message = CustomThemeConfig()
        read_theme(message, section)
        return message

    config.on_config_parsed(theme.cache_clear, force_connect=True)

    @wraps(read_theme)
    def fill_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
        if theme(section).ByteSize():
            msg.MergeFrom(theme(section))

    send = AppSession._enqueue_forward_msg

    @wraps(send)
    def send_news(self: AppSession, msg: ForwardMsg) -> None:
        if vars(self).setdefault("_known", KnownToBrowser()).is_news(msg):
            send(self, msg)

    app_session._populate_theme_msg = fill_theme
    AppSession._enqueue_forward_msg = send_news  # type: ignore[method-assign]
    AppSession._sends_news_only = True  # type: ignore[attr-defined]


class KnownToBrowser:
    """State of a session's runs as its browser knows it.

    Args:
        running: the running state that was sent last.
        polled: IDs of the page's fragments that rerun on a timer.
        polls: the current run is of such fragments alone.
    """

    def __init__(self) -> None:
        self.running: bool | None = None
        self.polled = set[str]()
        self.polls = False

    def is_news(self, message: ForwardMsg) -> bool:
        """Return whether to send a message; remove fields that its reader doesn't use."""
        kind = message.WhichOneof("type")
        if kind == "auto_rerun":
            self.polled.add(message.auto_rerun.fragment_id)
        elif kind == "new_session":
            self._begin(message)
        elif kind == "session_status_changed":
            running = message.session_status_changed.script_is_running
            # The page doesn't show a poll of a job as a run.
            if running == self.running or (running and self.polls):
                return False
            self.running = running
        return True

    def _begin(self, message: ForwardMsg) -> None:
        parts = message.metadata.run.fragment_ids
        self.polls = bool(parts) and self.polled.issuperset(parts)
        if not parts:
            # A full run declares its polled fragments again.
            self.polled.clear()
            return
        # The browser reads these in full runs only.
        message.new_session.ClearField("custom_theme")
        message.new_session.ClearField("app_pages")
