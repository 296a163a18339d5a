"""Sampling lab: effect of each sampling setting on one distribution."""

from __future__ import annotations

from pages.ui.decode.state import DecodeView
from pages.ui.lab import controls, page, state
from pages.ui.lab.state import Lab
from pages.ui.shell import frame
from pages.ui.widgets.controls import control

view, lab = DecodeView.current(), Lab.current()
lab.collect_results()
state.follow(lab, view)

with frame.page_columns():
    frame.intro(
        "Sampling lab",
        "One step of a model, held still: every knob acts on its stored logits at once. Watch "
        "which tokens remain, which stage removes the others, and which token the dice pick.",
    )
    with frame.controls_column():
        with frame.controls_row("lab-row"):
            control.draw("order", on_change=controls.note_move)
            control.draw("dice", on_change=controls.redraw)
            controls.roll()
        controls.knobs()
    with frame.figures_column():
        page.draw(lab, view)
