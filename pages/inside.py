"""Inside: one step from the request to the token, every function and every layer."""

from __future__ import annotations

from core.language import N_
from pages.ui.decode.state import DecodeView
from pages.ui.inside import controls, page, state
from pages.ui.inside.state import InsideView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = InsideView.current()
view.collect_results()
state.follow(view, DecodeView.current())

frame.intro(
    N_("Inside"),
    N_(
        "One step from the prompt to its token, part by part. Each part opens to "
        "its values, to the functions of this program that ran, and to the "
        "layers of the model."
    ),
)
with frame.controls(), frame.controls_row():
    controls.draw()
    bar.draw(view, controls.request)
bar.restore(view, controls.RUN_CONTROLS)
page.draw(view)
