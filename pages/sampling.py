"""Sampling lab: effect of each sampling setting on one distribution."""

from __future__ import annotations

from core.language import N_
from pages.ui.decode.state import DecodeView
from pages.ui.lab import controls, page, state
from pages.ui.lab.state import Lab
from pages.ui.shell import frame

view, lab = DecodeView.current(), Lab.current()
lab.collect_results()
state.follow(lab, view)

with frame.page_columns():
    frame.intro(
        N_("Sampling lab"),
        N_(
            "One step of a model, held still: a random number falls on the tokens "
            "laid end to end. Every knob changes their lengths at once, and the "
            "number stays where it is."
        ),
    )
    with frame.controls_column():
        with frame.controls_row("lab-row"):
            controls.roll()
            controls.ways()
        controls.knobs()
    with frame.figures_column():
        page.draw(lab, view)
