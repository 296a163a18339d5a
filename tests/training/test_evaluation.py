"""The evaluation counts rightly, on questions that the training never asks."""

import pytest

from training.evaluation import arithmetic, decoding, text


def test_draft_tokens_are_counted_round_by_round() -> None:
    row = [1, 2, 3, 4, 5, 6, 7, 8]
    # 4 of 4, the target's 5, then 6 accepted and 9 rejected of 3 proposed, then 8 alone.
    assert decoding.count_accepted([1, 2, 3, 4, 0, 6, 9, 8], row) == (4 + 3 + 1, 4 + 1 + 1)
    assert decoding.count_accepted([0, 0], [1, 2]) == (2 + 1, 0)
    assert decoding.count_accepted([], []) == (0, 0)


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("<call>4821*377<result>", 1817517),
        ("then <call>10-3<result>", 7),
        ("<call>84/4<result>", 21),
        ("<call>7/2<result>", None),
        ("<call>7/0<result>", None),
        ("<call>7**2<result>", None),
        ("no call", None),
    ],
)
def test_a_call_has_its_result_or_none(call: str, result: int | None) -> None:
    assert arithmetic.result_of(call) == result


@pytest.mark.parametrize(
    ("shares", "reached"),
    [((0.1, 0.09, 0.9), True), ((0.1, 0.9, 0.8), False), ((0.6, 0.7, 0.8), False)],
)
def test_budgets_that_rise_reach_the_goal_and_those_that_fall_do_not(shares, reached) -> None:
    assert arithmetic.measure_budget([*zip((0, 8, 16), shares, strict=True)]).reached == reached


@pytest.mark.parametrize(
    ("story", "steady"),
    [
        ("Mia the fox met Tom the bear. Mia the fox smiled.", True),
        ("Mia the fox met Tom. Mia the bear smiled.", False),
        ("Mia met Tom, Ben and Max.", False),
        ("Nobody was there.", False),
    ],
)
def test_names_are_steady_when_few_and_of_one_kind(story: str, steady: bool) -> None:
    assert text.has_steady_names(story) == steady
