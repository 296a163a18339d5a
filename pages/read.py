"""Read: a text of one's own, and what a model expected before each of its tokens."""

from __future__ import annotations

from core.language import N_
from pages.ui.read import controls, page
from pages.ui.read.state import ReadView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = ReadView.current()
view.collect_results()

frame.intro(
    N_("Read"),
    N_(
        "The model reads a text of yours in one forward. Each token shows its "
        "surprisal; click one to see the tokens that the model expected in its "
        "place."
    ),
)
with frame.controls():
    controls.draw()
    with frame.controls_row():
        bar.draw(view, controls.request)
bar.restore(view, controls.RUN_CONTROLS)
page.draw(view)
