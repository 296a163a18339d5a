"""Evaluate: comparison of decoding methods by their answers, and the causes of wrong ones."""

from __future__ import annotations

from core.language import N_
from pages.ui.evaluate import page
from pages.ui.evaluate.state import EvaluateView
from pages.ui.shell import frame

view = EvaluateView.current()
view.collect_results()

frame.intro(
    N_("Evaluate"),
    N_(
        "Several ways of decoding answer the same questions, and their "
        "accuracies are compared with intervals and costs. Guess before you open "
        "the answer; a plan of your own runs here too."
    ),
)
with frame.controls(), frame.controls_row():
    page.controls(view)
page.draw(view)
