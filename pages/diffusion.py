"""Masked diffusion: a canvas of masks that fills in an order of its own."""

from __future__ import annotations

from core.language import N_
from pages.ui.diffusion import controls, page
from pages.ui.diffusion.state import DiffusionView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = DiffusionView.current()
view.collect_results()

frame.intro(
    N_("Diffusion"),
    N_(
        "A diffusion language model sees the whole canvas of masks at once, and "
        "fills in the tokens that it is surest of first. The page shows every "
        "step with its probabilities."
    ),
)
with frame.controls():
    with frame.controls_row():
        controls.size()
        bar.draw(view, controls.request)
    controls.order()
bar.restore(view, controls.RUN_CONTROLS)
page.draw(view)
