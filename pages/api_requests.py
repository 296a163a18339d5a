"""Requests: every call of the OpenAI-compatible endpoint, live while it is decoded."""

from __future__ import annotations

from core.language import N_
from pages.ui.requests import controls, page
from pages.ui.requests.state import RequestsView
from pages.ui.shell import frame

view = RequestsView.current()
view.collect_results()

frame.intro(
    N_("Requests"),
    N_(
        "This server has an endpoint like OpenAI's: send requests to it from any "
        "client and watch them being decoded. Choose one to see its "
        "probabilities at each token."
    ),
)
with frame.controls():
    with frame.controls_row():
        controls.draw_call()
        page.draw_send(view)
    page.draw_key(view)
page.draw(view)
