"""Many runs: one prompt again and again, or over a grid of two settings."""

from __future__ import annotations

from pages.ui.many import controls, page
from pages.ui.many.state import ManyView
from pages.ui.shell import frame

view = ManyView.current()
view.collect_results()

with frame.desk():
    frame.intro(
        "Many runs",
        "One prompt, many runs: how long they agree, where they part, and whether dice, a setting "
        "or rounding decided it. Runs with the same tokens are one branch of the tree.",
    )
    with frame.rail():
        controls.draw_all()
        page.start_or_stop(view)
        controls.knobs()
    with frame.bench():
        page.draw(view)
