"""What a page draws later: on the first paint its first figure goes ahead of all others."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import platform
from pages.ui.run.view import PageView
from pages.ui.widgets.source import source

_component = st.components.v2.component(
    "decoding_explorer.later", html="<i></i>", js=source("run/display/later.js")
)


def waits(view: PageView) -> bool:
    """Whether the rest of the page waits; the browser asks for it once the first chart is drawn.

    Said of the first run only: the run that the browser asks for may cut this one off.
    """
    if view.painted:
        return False
    view.painted = True
    ask(lambda: None)
    return True


def ask(then: Callable[[], None]) -> None:
    """Have the browser ask for the rest once the page's first chart is drawn.

    Args:
        then: the callback of its asking.
    """
    with st.container(key=platform.key("later")):
        _component(key=platform.key("rest-of-page"), on_due_change=then)
