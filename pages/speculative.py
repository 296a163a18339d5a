"""Speculative decoding: verification of every draft token, and the time of each part."""

from __future__ import annotations

from core.language import N_
from pages.ui.run.display import bar
from pages.ui.shell import frame
from pages.ui.speculative import controls, page
from pages.ui.speculative.state import SpecView

view = SpecView.current()
view.collect_results()

frame.intro(
    N_("Speculative decoding"),
    N_(
        "A small draft model proposes several tokens, and the target verifies "
        "all of them in one forward. Click a token to see its probabilities, its "
        "random number and the outcome."
    ),
)
controls.begin_with_a_draft_that_fits()
with frame.controls():
    row = frame.controls_row()
    # The rule decides which of the rarer settings are drawn.
    controls.rule()
    with row:
        controls.pair()
        bar.draw(view, controls.request)
bar.restore(view, controls.RUN_CONTROLS)
page.draw(view)
