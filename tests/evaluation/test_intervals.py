"""Wilson's interval against published values, and against its own definition."""

from __future__ import annotations

import math

import pytest

from core.evaluation.scoring.intervals import wilson, wilson_of_groups


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # Agresti and Coull (1998): 9 of 10.
        (9, 10, 0.5958, 0.9821),
    ],
)
def test_known_intervals(hits, total, low, high) -> None:
    share = wilson(hits, total)
    assert (share.low, share.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert share.value == hits / total


def test_per_cent_has_one_digit_and_halves_go_up() -> None:
    # Python's own rounding writes 62 and 88 for the first two, 6.2 and 18.8 for the others.
    shares = [(15, 24), (21, 24), (1, 16), (3, 16), (0, 3), (3, 3), (2, 3), (0, 0)]
    percents = [wilson(hits, total).percent for hits, total in shares]
    assert percents == [62.5, 87.5, 6.3, 18.8, 0, 100, 66.7, 0]


def test_the_ends_solve_the_score_equation() -> None:
    for hits, total in ((3, 7), (50, 64), (1, 1000), (999, 1000)):
        share = wilson(hits, total)
        for end in (share.low, share.high):
            score = abs(hits / total - end) / math.sqrt(end * (1 - end) / total)
            assert score == pytest.approx(1.959964, abs=1e-5)


def test_none_and_all_reach_the_ends_and_nothing_tried_says_nothing() -> None:
    assert wilson(0, 5).low == 0.0 and wilson(5, 5).high == 1.0
    assert wilson(0, 0)[2:] == (0.0, 1.0) and wilson(0, 0).value == 0.0
    with pytest.raises(ValueError, match="no share"):
        wilson(6, 5)


def test_one_trial_a_group_is_wilson_s_own_interval() -> None:
    for hits, total in ((0, 5), (3, 7), (50, 64), (5, 5)):
        groups = [(1, 1)] * hits + [(0, 1)] * (total - hits)
        assert wilson_of_groups(groups) == pytest.approx(wilson(hits, total))
    assert wilson_of_groups([]) == wilson(0, 0) == wilson_of_groups([(0, 0)])


def test_trials_that_repeat_their_group_count_once() -> None:
    """Eight samples of each of four problems, of which three are always right and one never."""
    share = wilson_of_groups([(8, 8)] * 3 + [(0, 8)])
    assert (share.hits, share.total, share.value) == (24, 32, 0.75)
    assert share[2:] == pytest.approx(wilson(3, 4)[2:])
    assert wilson_of_groups([(8, 8)] * 4)[2:] == pytest.approx(wilson(4, 4)[2:])


def test_between_both_the_spread_of_the_groups_decides() -> None:
    # p = 1/2, variance (4 * 1) / 16**2 * 4/3 = 1/48: an effective number of 12 of the 16 trials.
    share = wilson_of_groups([(1, 4), (3, 4), (3, 4), (1, 4)])
    assert share[2:] == pytest.approx(wilson(6, 12)[2:])
    assert wilson_of_groups([(2, 4)] * 4)[2:] == pytest.approx(wilson(8, 16)[2:])
