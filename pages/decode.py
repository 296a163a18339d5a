"""Decode: one run of one model, every probability visible."""

from __future__ import annotations

from pages.ui.decode import controls, page
from pages.ui.decode.state import DecodeView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = DecodeView.current()
view.collect_results()

with frame.desk():
    frame.intro(
        "Decode",
        "A language model writes one token at a time: at every step it gives each token that it "
        "knows a probability, and the method picks one. Click a token to see what the model saw "
        "there.",
    )
    with frame.rail():
        with frame.row():
            controls.method()
            bar.draw(view, controls.request)
        controls.knobs(then=page.redraw_knobs)
    bar.restore(view, controls.request)
    with frame.bench():
        page.draw(view)
