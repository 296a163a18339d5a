"""The Evaluate page without a browser: what belongs to which plan, and whose words stand where."""

from __future__ import annotations

from dataclasses import replace

from core.evaluation.plan.asking import Rendered
from core.evaluation.plan.types import Evaluation
from pages.ui.evaluate.controls import LESSONS, OWN
from pages.ui.evaluate.state import EvaluateView, lesson
from tests.ui.conftest import Open
from tests.ui.knobs import move

HOSTILE = "![x](https://evil.example/x.png) :red[a]"


def test_another_plan_shows_neither_the_inputs_of_the_first_nor_markup(open_app: Open) -> None:
    stored = lesson("leak")
    plan, first = stored.plan, stored.plan.ways[0]
    app = open_app("evaluate_ways.py", evaluate_look="Answers")
    view: EvaluateView = app.session_state["evaluate"]
    inputs = [Rendered("way", "as it is read", (1, 2), "", (), ())]
    view.rendered = (plan.ways, plan.questions.questions[0]), inputs
    assert "as it is read" in [code.value for code in app.run().code]

    ways = (replace(first, name=HOSTILE), *plan.ways[1:])
    view.plan = replace(plan, ways=ways, revisions=())
    rows = (replace(row, way=HOSTILE) if row.way == first.name else row for row in stored.rows)
    view.made[OWN] = Evaluation(view.plan, tuple(rows))
    move(app, "evaluation", OWN).run()
    assert not app.exception and not app.code
    labels = [link.proto.label for link in app.get("link_button")]
    assert any("evil" in label for label in labels)
    assert not any(mark in label for label in labels for mark in ("![", "https://", ":red["))


def test_each_stored_evaluation_is_a_question_with_its_answer_folded(open_app: Open) -> None:
    app = open_app("evaluate_ways.py")
    for key, question in LESSONS.items():
        assert question.endswith("?")
        move(app, "evaluation", key).run()
        (fold,) = (fold for fold in app.expander if fold.label == "Show the answer")
        assert not fold.proto.expanded
        assert question in fold.markdown[0].value
