"""Home as it is drawn: the ways in, and a card for each page."""

from __future__ import annotations

import streamlit as st

from pages.ui import registry
from pages.ui.home.state import HomeView
from pages.ui.registry import Page
from pages.ui.run import address
from pages.ui.run.display import panel
from pages.ui.run.files import save
from pages.ui.shell import frame


def show() -> None:
    """Draw the page."""
    view = HomeView.current()
    frame.intro(
        "See how a language model chooses its words",
        "A model writes one token at a time. The pages run a real model and show every "
        "probability behind its text.",
    )
    panel.failure(view.failure)
    _ways_in()
    _cards()
    others = st.query_params.keys() - {registry.HOME_MARK}
    address.write(registry.HOME_MARK, "1" if others else None)


def _ways_in() -> None:
    """Draw the buttons of the course, of a trace file, and of the endpoint."""
    with st.container(key="ways-in", horizontal=True, gap="small"):
        if course := next((page for page in registry.PAGES if page.path == "course"), None):
            st.page_link(course.script, label="Begin the course", icon=":material/school:")
        with st.popover("Open your own trace", icon=":material/folder_open:"):
            save.draw_upload(registry.HOME.path, "home_trace_file")
        st.page_link(
            registry.page_at("requests").script,
            label="Point a client here",
            icon=":material/terminal:",
        )


def _cards() -> None:
    """Draw a card for each page but this one."""
    with st.container(key="cards"):
        for page in registry.PAGES:
            if page is not registry.HOME:
                _card(page)


def _card(page: Page) -> None:
    with st.container(key=f"card-{page.name}", gap=None):
        st.page_link(page.script, label=page.title)
        st.text(page.summary)
