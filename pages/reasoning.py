"""Reasoning budget: cost and benefit of thinking, which is a longer decoding loop."""

from __future__ import annotations

from core.language import N_
from pages.ui.reasoning import controls, page, problem
from pages.ui.reasoning.state import ReasonView
from pages.ui.run.display import bar
from pages.ui.shell import frame

view = ReasonView.current()
view.collect_results()

frame.intro(
    N_("Reasoning budget"),
    N_(
        "A model that reasons writes its thoughts before its answer, token by "
        "token. A reasoning level only bounds their number: move the budget, and "
        "the model answers again."
    ),
)
with frame.controls():
    with frame.controls_row():
        problem.pick_problem()
        controls.more()
        bar.draw(view, problem.request)
    problem.write_question()
    controls.budget(then=page.redraw, settled=page.run_again)
bar.restore(view, problem.RUN_CONTROLS)
page.draw(view)
