"""Reasoning budget: cost and benefit of thinking, which is a longer decoding loop."""

from __future__ import annotations

from pages.ui.reasoning import controls, page, problem
from pages.ui.reasoning.state import ReasonView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = ReasonView.current()
view.collect_results()

frame.intro(
    "Reasoning budget",
    "A model that reasons writes its thoughts before its answer, token by token; a reasoning "
    "level is only the bound on that loop. Change the bound, and watch the answer change from "
    "wrong to right.",
)
with frame.controls():
    with frame.controls_row():
        problem.pick_problem()
        controls.more()
        bar.draw(view, problem.request)
    problem.write_question()
    controls.budget(then=page.redraw)
bar.restore(view, problem.request)
page.draw(view)
