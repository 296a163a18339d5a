"""Beam search: the recorded tree of a search."""

from __future__ import annotations

from core.language import N_
from pages.ui.beam import controls, page
from pages.ui.beam.state import BeamView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = BeamView.current()
view.collect_results()

frame.intro(
    N_("Beam search"),
    N_(
        "Beam search extends several texts at once and keeps the likeliest ones "
        "at every step. Press Play to see the tree grow; each edge is the parent "
        "that the search stored."
    ),
)
with frame.controls():
    with frame.controls_row():
        controls.size()
        bar.draw(view, controls.request)
    controls.ranking(then=page.redraw)
bar.restore(view, controls.RUN_CONTROLS)
page.draw(view)
