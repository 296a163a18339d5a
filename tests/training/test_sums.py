"""Sums in any words: every step is right, and nothing of the evaluation is asked."""

import random
import re
from decimal import Decimal

import pytest

from tests.training.reading import holds, learned, whole
from training import handwritten
from training.corpus import orders, sums
from training.corpus.expressions import (
    MOST_STEPS,
    draw_expression,
    is_kept,
    key,
    show,
    work_out,
)
from training.corpus.tokens import END_THINK, THINK

COUNT = 1500
_STEP = re.compile(r"(-?[\d.]*\d) ([-+*/]) ([\d.]*\d) = (-?[\d.]*\d)\.")


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("3+4*5", "4 * 5 = 20. 3 + 20 = 23."),
        ("(3+4)*5", "3 + 4 = 7. 7 * 5 = 35."),
        ("5-12", "5 - 12 = -7."),
        ("-4+10-2", "-4 + 10 = 6. 6 - 2 = 4."),
        ("2.5+1.3", "2.5 + 1.3 = 3.8."),
        ("7/2", "7 / 2 = 3.5."),
        ("23*14", "23 * 10 = 230. 23 * 4 = 92. 230 + 92 = 322."),
        ("2*3+4*5", "2 * 3 = 6. 4 * 5 = 20. 6 + 20 = 26."),
    ],
)
def test_a_sum_is_worked_out_in_the_order_of_the_rules(expression: str, written: str) -> None:
    steps = work_out(expression)
    assert steps and " ".join(map(str, steps)) == written


@pytest.mark.parametrize("expression", ["7/3", "1/8", "123*45", "2-(3-9)", "4/0", "999+1000"])
def test_a_sum_too_hard_for_the_head_has_no_steps(expression: str) -> None:
    assert work_out(expression) is None


def test_drawn_sums_are_right_varied_and_not_kept_for_the_evaluation() -> None:
    rng = random.Random(1)
    drawn = [draw_expression(rng) for _ in range(COUNT)]
    for expression in drawn:
        steps = work_out(expression)
        assert steps and 1 <= len(steps) <= MOST_STEPS
        assert steps[-1].result == eval(re.sub(r"([\d.]+)", r"Decimal('\1')", expression))
        assert not is_kept(expression)
    results = [work_out(expression)[-1].result for expression in drawn]
    assert sum(result < 0 for result in results) > 0.04 * COUNT
    assert sum(result != int(result) for result in results) > 0.05 * COUNT
    assert sum(result > 199 for result in results) > 0.15 * COUNT
    assert (
        sum(
            ("(" in drawn_sum) or (len(set("+-") & set(drawn_sum)) > 0 and "*" in drawn_sum)
            for drawn_sum in drawn
        )
        > 300
    )


def test_the_steps_of_a_question_are_right_and_end_at_its_answer() -> None:
    rng = random.Random(2)
    for _ in range(COUNT):
        document = sums.plain(rng)
        assert learned(document).startswith("~\n" + THINK)
        if END_THINK in learned(document):  # the others are cut somewhere
            thinking, answer = whole(document).split(THINK)[1].split(END_THINK)
            steps = _STEP.findall(thinking)
            for first, sign, second, result in steps:
                assert holds(Decimal(first), sign, Decimal(second), Decimal(result))
            assert answer == f"The answer is {steps[-1][3]}."


def test_no_pattern_is_left_unfilled() -> None:
    rng = random.Random(5)
    questions = [sums.make_question(rng)[0] for _ in range(COUNT)]
    assert not [
        question for question in questions if re.search(r"[{}\[\]|@]|  |[A-Z]{4,} [a-z]", question)
    ]


def test_a_system_prompt_decides_about_the_form_of_a_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orders, "system", lambda _, way: way)
    rng = random.Random(6)
    seen = set()
    for _ in range(COUNT):
        messages = sums.chat(rng)
        way = whole(messages[0].parts) if messages[0].role == "system" else ""
        seen.add(way)
        text = whole(messages[-1].parts)
        if way in ("word", "answer"):
            assert re.fullmatch(r"-?[\d.]+", text)
        else:
            assert text.startswith(THINK)
            assert text.split(END_THINK)[1].isupper() == (way == "capitals")
    assert seen == {"", "none", "word", "answer", "steps", "sentence", "capitals"}


def test_the_sums_of_the_evaluation_are_kept() -> None:
    assert is_kept("240+165") and is_kept("(4 + 5) * 3") and key("(4 + 5) * 3") == "4+5*3"
    assert all(work_out(row[2]) for row in handwritten.read("sums"))
    assert show(Decimal("3.0")) == "3" and show(Decimal("20")) == "20"
