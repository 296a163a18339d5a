"""Error boundary of a page: it shows the error, and offers to reset the page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.language import tr
from pages.ui import platform
from pages.ui.platform import guard, slot
from pages.ui.registry import Page
from pages.ui.run import address, shared
from pages.ui.widgets.controls import control


def run(page: Page, draw: Callable[[], None]) -> None:
    """Draw a page; on an error, show the error and offer to reset the page.

    The error of a callback that failed before is shown above the page.
    """
    if (failed := guard.failed_callback()) is not None:
        guard.say(failed)
    try:
        draw()
    except Exception as error:
        guard.say(guard.sentence(error))
        st.button(
            tr("Reset this page"),
            key="start_afresh",
            icon=":material/restart_alt:",
            help=tr(
                "Its example and its default settings; what you opened or ran here is forgotten."
            ),
            on_click=_start_afresh,
            args=(page,),
        )


def _start_afresh(page: Page) -> None:
    """Reset the page's view and controls, including shared knobs in the address; other pages and
    the sidebar stay as they are."""
    kind = page.view.find().__self__
    address.forget(page.path)
    defaults = control.defaults(page.package)
    for place in shared.slots(page.slots):
        with slot.use(place):
            if (view := st.session_state.pop(platform.key(kind.key), None)) is not None:
                for job in view.jobs.values():
                    job.stop()
            named = control.rows_in_address().keys() - {row.key for row in shared.ROWS}
            control.load(defaults | {key: control.row_of(key).default for key in named})
