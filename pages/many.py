"""Many runs: one prompt again and again, or over a grid of two settings."""

from __future__ import annotations

from pages.ui.many import controls, page
from pages.ui.many.state import ManyView
from pages.ui.shell import frame

view = ManyView.current()
view.collect_results()

with frame.page_columns():
    frame.intro(
        "Many runs",
        "One prompt, many runs: how long they agree, where they part, and whether dice, a setting "
        "or rounding decided it. Runs with the same tokens are one branch of the tree.",
    )
    with frame.controls_column():
        with frame.controls_row():
            controls.mode()
            page.start_or_stop(view)
        controls.knobs()
    with frame.figures_column():
        page.draw(view)
