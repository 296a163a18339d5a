"""Beam search: the recorded tree of a search."""

from __future__ import annotations

from pages.ui.beam import controls, page
from pages.ui.beam.state import BeamView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = BeamView.current()
view.collect_results()

frame.intro(
    "Beam search",
    "Beam search keeps several texts alive at once and drops the least likely at every step. "
    "Each edge of this tree is the parent that the search stored, not one guessed afterwards.",
)
with frame.controls():
    with frame.controls_row():
        controls.size()
        bar.draw(view, controls.request)
    controls.ranking(then=page.redraw)
bar.restore(view, controls.request)
page.draw(view)
