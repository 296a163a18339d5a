"""Deferred drawing: the first paint of a page draws its first figure before all others."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import platform
from pages.ui.run.view import PageView
from pages.ui.widgets.component import component, source

_component = component("later", html="<i></i>", js=source("run/display/later.js"))


def waits(view: PageView) -> bool:
    """Return whether the rest of the page waits until the browser has drawn the first chart.

    True in the first run only: the rerun that the browser asks for may interrupt that run.
    """
    if view.painted:
        return False
    view.painted = True
    ask(lambda: None)
    return True


def ask(then: Callable[[], None]) -> None:
    """Make the browser request the rest once the page's first chart is drawn.

    Args:
        then: callback of the request.
    """
    with st.container(key=platform.key("later")):
        _component(key=platform.key("rest-of-page"), on_due_change=then)
