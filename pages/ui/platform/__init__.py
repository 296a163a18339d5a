"""Adapter for Streamlit's internals; these are the functions that pages use most."""

from pages.ui.platform.fragments import mark_ready, part, poll, rerun
from pages.ui.platform.session import keep
from pages.ui.platform.slot import key
from pages.ui.platform.uninterrupted import critical

__all__ = ["critical", "keep", "key", "mark_ready", "part", "poll", "rerun"]
