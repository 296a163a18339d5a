"""Variety of replies, by arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core import Sampling, load_model
from core.evaluation.plan.run import run_evaluation
from core.evaluation.plan.types import Evaluation, EvaluationPlan, Way
from core.evaluation.plan.variety import varieties
from core.evaluation.questions.types import Question, QuestionSet
from core.figures import evaluate_variety, evaluate_variety_data

QUESTIONS = QuestionSet("q", (Question("a", "?", ("x",)), Question("b", "?", ("y",))), 0)
PLAN = EvaluationPlan(QUESTIONS, (Way("way", Sampling(max_new_tokens=4), samples=3),))
REPLIES = {
    "a": ("one two three", "one two three", "one two four"),
    "b": ("five", "six", "seven"),
}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    ran = run_evaluation({"embedded:target": load_model("embedded:target")}, PLAN)
    rows = tuple(
        replace(row, reply=REPLIES[row.question][row.sample], tokens=4 + 2 * (row.question == "b"))
        for row in ran.rows
    )
    return Evaluation(ran.plan, rows)


def test_distinct_replies_words_and_lengths_are_means_over_questions(evaluation) -> None:
    (way,) = varieties(evaluation)
    assert way.replies.value == pytest.approx((2 / 3 + 1) / 2)
    assert way.distinct_1.value == pytest.approx((4 / 9 + 1) / 2)
    assert way.distinct_2.value == pytest.approx((3 / 6 + 1) / 2)  # b has no pair of words.
    assert way.tokens.value == 5
    half = 1.959963984540054 * math.sqrt(2) / math.sqrt(2)
    assert (way.tokens.low, way.tokens.high) == pytest.approx((5 - half, 5 + half))


def test_the_figure_and_its_table_say_the_same(evaluation) -> None:
    figure = evaluate_variety(evaluation)
    assert list(figure.data[0].x) == [pytest.approx(5 / 6)]
    row = evaluate_variety_data(evaluation).iloc[0]
    assert (row["way"], row["samples"], row["replies"]) == ("way", 3, pytest.approx(5 / 6))
    assert row["tokens_high"] > row["tokens"] > row["tokens_low"]
    assert "distinct-2 0.75" in str(figure.to_dict())


def test_without_rows_the_figure_is_a_sentence() -> None:
    assert "No question has been asked" in str(evaluate_variety(Evaluation(PLAN)).to_dict())
