"""Read: a text of one's own, and what a model expected before each of its tokens."""

from __future__ import annotations

from pages.ui.read import controls, page
from pages.ui.read.state import ReadView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = ReadView.current()
view.collect_results()

frame.intro(
    "Read",
    "Paste a text, and the model reads it in one pass: how much each token surprised it, and which "
    "token it expected instead. Click a token to see the prediction before it.",
)
with frame.controls():
    controls.draw()
    with frame.controls_row():
        bar.draw(view, controls.request)
bar.restore(view, controls.request)
page.draw(view)
