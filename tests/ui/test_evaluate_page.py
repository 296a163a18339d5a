"""The Evaluate page without a browser: what belongs to which plan, and whose words stand where."""

from __future__ import annotations

from dataclasses import replace

from core.evaluation.plan.types import Evaluation
from pages.ui.evaluate.controls import OWN
from pages.ui.evaluate.state import EvaluateView, lesson
from pages.ui.evaluate.work import Rendered
from tests.ui.conftest import Open

HOSTILE = "![x](https://evil.example/x.png) :red[a]"


def test_another_plan_shows_neither_the_inputs_of_the_first_nor_markup(open_app: Open) -> None:
    stored = lesson("leak")
    assert stored is not None
    plan, rows = stored.plan, stored.rows
    app = open_app("evaluate_ways.py", evaluate_look="Answers")
    view: EvaluateView = app.session_state["evaluate"]
    inputs = [Rendered("way", "as it is read", (1, 2), "", (), ())]
    view.rendered = (plan.ways, plan.questions.questions[0]), inputs
    app.run()
    assert "as it is read" in [code.value for code in app.code]

    way = replace(plan.ways[0], name=HOSTILE)
    own = replace(plan, ways=(way, *plan.ways[1:]), revisions=())
    named = [replace(row, way=HOSTILE) if row.way == plan.ways[0].name else row for row in rows]
    view.plan, view.made[OWN] = own, Evaluation(own, tuple(named))
    app.session_state["lesson"] = OWN
    app.run()
    assert not app.exception and not app.code
    labels = [link.proto.label for link in app.get("link_button")]
    assert any("evil" in label for label in labels)
    assert not any(mark in label for label in labels for mark in ("![", "https://", ":red["))
