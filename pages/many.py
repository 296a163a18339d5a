"""Many runs: one prompt again and again, or over a grid of two settings."""

from __future__ import annotations

from core.language import N_
from pages.ui.many import controls, page
from pages.ui.many.state import ManyView
from pages.ui.shell import frame

view = ManyView.current()
view.collect_results()

with frame.page_columns():
    frame.intro(
        N_("Many runs"),
        N_(
            "One prompt runs many times; the tree shows how long the texts agree, "
            "where they part, and whether random numbers, a setting or rounding "
            "caused it."
        ),
    )
    with frame.controls_column():
        with frame.controls_row():
            controls.mode()
            page.start_or_stop(view)
        controls.knobs()
    with frame.figures_column():
        page.draw(view)
