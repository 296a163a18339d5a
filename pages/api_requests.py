"""Requests: every call of the OpenAI-compatible endpoint, live while it is decoded."""

from __future__ import annotations

from pages.ui.requests import controls, page
from pages.ui.requests.state import RequestsView
from pages.ui.shell import frame

view = RequestsView.current()
view.collect_results()

frame.intro(
    "Requests",
    "This server answers OpenAI's API: point a client at it and watch every request being decoded. "
    "Choose one to see what its model saw at each token.",
)
with frame.controls():
    with frame.controls_row():
        controls.draw_call()
        page.draw_send(view)
    page.draw_key(view)
page.draw(view)
