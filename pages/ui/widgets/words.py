"""A text that the browser may change before the page has answered; plain text, as `st.text`."""

from __future__ import annotations

from pages.ui import platform
from pages.ui.widgets.ahead import Prefetch
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_component = component(
    "words",
    # The page's own rules for texts hold for it.
    html='<div class="words" data-testid="stText"></div>',
    js=source("widgets/ahead.js", "widgets/words.js"),
    isolate_styles=False,
)


def draw(name: str, text: str, prefetch: Prefetch | None) -> None:
    """Draw a text.

    Args:
        name: its key, and what it is called in the offer.
    """
    payload = prefetch.payload if prefetch else None
    data = {"name": platform.key(name), "text": text, "ahead": payload, "drawn": drawn_at()}
    _component(key=platform.key(f"words-{name}"), data=data)
