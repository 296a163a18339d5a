"""Setup of the browser for every page.

The reader's language, a history of pages, numbers in their range, menus that take any text, the
theme, the charts' script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core import language
from pages.ui.platform import reader
from pages.ui.platform.chart_script import SCRIPT
from pages.ui.widgets import style
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.options import Menu
from pages.ui.widgets.render_clock import drawn_at

# In the session's state.
_FOCUS = "focus_field"
_KEY = "prepared"
_component = component(
    "browser",
    html='<i class="probe"></i>',
    css=".probe { color: var(--st-background-color); }",
    js=source("widgets/numbers.js", "shell/own_words.js", "shell/browser.js"),
)


def focus(key: str) -> None:
    """In a callback: let the browser focus the field of this key once it is drawn."""
    st.session_state[_FOCUS] = key


def prepare(slots: Sequence[str], item: str, found: Callable[[str], None]) -> None:
    """Send the setup to the browser, once a run; nothing is shown.

    Args:
        slots: prefixes of the keys of the page's runs.
        item: name of a value that the browser may have stored on an earlier visit.
        found: callback with that value, called at most once a tab.
    """

    def tell() -> None:
        stored = (st.session_state.get(_KEY) or {}).get("stored")
        if isinstance(stored, str):
            found(stored)

    with st.container(key="browser"):
        _component(
            key=_KEY,
            data={
                "language": language.current(),
                "chosen": {"cookie": reader.COOKIE, "language": reader.chosen()},
                "theme": style.theme().name,
                "window": style.window(),
                "drawn": drawn_at(),
                # Menus that take any text, and the maximum lengths of other texts.
                "free": [row.key for row in control.rows(Menu) if row.free()],
                "longest": {
                    row.key: row.max_chars for row in control.rows(control.Text) if row.max_chars
                },
                "script": SCRIPT,
                "slots": ("", *slots),
                "focus": st.session_state.pop(_FOCUS, ""),
                "item": item,
            },
            # Either callback starts a run, which draws everything in the new theme or width.
            on_theme_change=lambda: None,
            on_window_change=lambda: None,
            on_stored_change=tell,
        )
