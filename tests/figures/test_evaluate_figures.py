"""Figures of evaluations by their data: accuracy by way, and which ways agree."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.statistics import results
from core.evaluation.plan.types import Evaluation
from core.figures import (
    evaluate_accuracy,
    evaluate_accuracy_data,
    evaluate_agreement,
    evaluate_agreement_data,
)
from core.figures.base.labels import NBSP
from core.figures.base.paper import Paper
from core.figures.evaluate.accuracy import cost_words
from core.language.catalogue import use
from tests.figures.looking import strings, trace_named

STORED = Path(__file__).parents[2] / "assets/evaluation"
NARROW = Paper(width=300)
HOSTILE = "<img src=x> %{meta.caption} **b**"


def evaluation(way: str = "") -> Evaluation:
    """The stored lesson; its first way renamed where a name is given."""
    stored = read_evaluation(STORED / "hot-draft.jsonl")
    first, *others = stored.plan.ways
    plan = replace(stored.plan, ways=(replace(first, name=way or first.name), *others))
    rows = tuple(
        replace(r, way=plan.ways[0].name) if r.way == first.name else r for r in stored.rows
    )
    return Evaluation(plan, rows)


def test_bars_are_shares_with_their_intervals() -> None:
    bars = trace_named(evaluate_accuracy(evaluation()), "ways")
    rows = results(evaluation())
    assert list(bars.x) == [row.correct.hits / 24 for row in rows]
    assert [x + up for x, up in zip(bars.x, bars.error_x.array, strict=True)] == pytest.approx(
        [row.correct.high for row in rows]
    )
    # Only where a bar is less than another there are two colours to tell of.
    leak = read_evaluation(STORED / "leak.jsonl")
    for shown, is_named in ((leak, True), (evaluation(), False)):
        words = strings(evaluate_accuracy(shown))
        assert any("The strongest bar is the highest share." in row for row in words) is is_named
    table = evaluate_accuracy_data(evaluation())
    assert list(table["target_forwards"]) == [row.forwards for row in rows]


def test_the_matrix_says_who_agrees_and_lossless_rules_agree_with_greedy() -> None:
    cells = trace_named(evaluate_agreement(evaluation()), "agreement")
    assert [row[at] for at, row in enumerate(cells.z)] == [1.0] * 5
    assert list(cells.z[0])[:4] == [1.0] * 4
    table = evaluate_agreement_data(evaluation())
    assert len(table) == 25 and set(table["questions"]) == {24}


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_costs_break_between_their_parts(language: str) -> None:
    leak = read_evaluation(STORED / "leak.jsonl")
    with use(language):
        parts = [cost_words(row).replace(NBSP, " ").split(" · ") for row in results(leak)]
        notes = evaluate_accuracy(leak, paper=NARROW).layout.annotations
        costs = [note.text.replace(NBSP, " ") for note in notes]
    for row in parts:
        assert any(re.split(r" ·(?: |<br>)", text) == row for text in costs)
    wrapped = [note for note in notes if "·<br>" in note.text]
    assert all(note.align == "left" for note in wrapped)


@pytest.mark.parametrize("draw", [evaluate_accuracy, evaluate_agreement])
def test_without_a_whole_question_a_sentence_stands_there(draw) -> None:
    whole = evaluation()
    figure = draw(Evaluation(whole.plan, whole.rows[:3]))
    assert any("No question" in text for text in strings(figure))
