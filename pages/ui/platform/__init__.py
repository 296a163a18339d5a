"""All that knows Streamlit's internals; what a page says to it are these verbs."""

from pages.ui.platform.fragments import mark_ready, part, poll, rerun
from pages.ui.platform.session import keep
from pages.ui.platform.slot import key
from pages.ui.platform.uninterrupted import critical

__all__ = ["critical", "keep", "key", "mark_ready", "part", "poll", "rerun"]
