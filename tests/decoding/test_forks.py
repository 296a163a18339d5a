"""Fork points and growth by a threshold: by arithmetic on a script, and against branches."""

from __future__ import annotations

import math
import random
from functools import cache, partial

import pytest

from core import ConfigError, Greedy, Sampling, Shaping, Trace, collect
from core.decoding.autoregressive.branches import branch
from core.decoding.autoregressive.forks import fork_points, grow_above
from core.decoding.check import fork_points_checked, grow_above_checked
from core.decoding.record.forks import (
    MOST_FORKS,
    by_effect,
    common_tokens,
    other_candidate,
    steps_to_fork,
    together_after,
)
from core.models.scripted import ScriptedModel
from tests.decoding.beam.beams import ARCHITECTURES
from tests.models.builders import random_language_model

_model = cache(random_language_model)
THE, CAT, DOG, SAT, RAN, HOME, DOT = range(1, 8)
# A cat sits; a dog runs, or sits. Both then go home and stop, again and again.
SCRIPT = {
    (THE,): [0, 0, 0.6, 0.4, 0, 0, 0, 0],
    (CAT,): [0, 0, 0, 0, 1.0, 0, 0, 0],
    (DOG,): [0, 0, 0, 0, 0.3, 0.7, 0, 0],
    (): [0, 0, 0, 0, 0, 0, 0.8, 0.2],
    (HOME,): [0, 0, 0, 0, 0, 0, 0.1, 0.9],
}


def scripted() -> tuple[ScriptedModel, Trace]:
    model = ScriptedModel(SCRIPT)
    return model, collect(model, [THE], Greedy(max_new_tokens=7))


def test_the_measures_of_a_fork_point_follow_from_the_script() -> None:
    model, trace = scripted()
    assert trace.token_ids == (CAT, SAT, HOME, DOT, HOME, DOT, HOME)
    (point,) = fork_points(model, trace, [0])
    assert point.trace.token_ids == (DOG, RAN, HOME, DOT, HOME, DOT, HOME)
    assert (point.at_step, point.other.token_id, point.other.rank) == (0, DOG, 2)
    assert (point.length, point.changed, point.together_after) == (7, 2, 2)
    assert point.share == pytest.approx(2 / 7)
    change = (math.log(0.4) + math.log(0.7) - math.log(0.6)) / 7
    assert point.logprob_change == pytest.approx(change, abs=1e-5)


def test_an_ending_that_slips_by_a_token_comes_together_again() -> None:
    model, trace = scripted()
    (point,) = fork_points(model, trace, [3])
    # Home at once in place of a dot: all that follows is the run's own, one token earlier.
    assert point.trace.token_ids[3:] == (HOME, DOT, HOME, DOT)
    assert trace.token_ids[3:] == (DOT, HOME, DOT, HOME)
    assert (point.length, point.changed) == (4, 1) and point.together_after is None
    longer = collect(model, [THE], Greedy(max_new_tokens=9))
    (point,) = fork_points(model, longer, [3])
    assert (point.length, point.changed, point.together_after) == (6, 1, 0)


def test_the_steps_with_the_most_entropy_are_forked_and_the_largest_effect_stands_first() -> None:
    model, trace = scripted()
    assert steps_to_fork(trace, 1) == [0]
    assert steps_to_fork(trace, 3) == [0, 2, 4]
    assert 1 not in steps_to_fork(trace, 20)
    assert other_candidate(trace.token_steps[1]) is None
    points = fork_points(model, trace, [0, 3])
    assert [point.share for point in points] == pytest.approx([2 / 7, 1 / 4])
    assert by_effect(points[::-1]) == [*points]


def test_longest_common_subsequences_are_those_of_the_table() -> None:
    dice = random.Random("common")
    for _ in range(200):
        one, other = ([dice.randrange(4) for _ in range(dice.randrange(12))] for _ in range(2))
        rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
        for i, own in enumerate(one):
            for j, its in enumerate(other):
                longest = max(rows[i][j + 1], rows[i + 1][j])
                rows[i + 1][j + 1] = rows[i][j] + 1 if own == its else longest
        assert common_tokens(one, other) == rows[-1][-1]


@pytest.mark.parametrize(
    ("own", "ending", "after"),
    [
        ([1, 2, 3, 4, 5], [9, 2, 3, 4, 5], 1),
        ([1, 2, 3, 4, 5], [9, 8, 7, 2, 3, 4, 5], 3),
        ([1, 8, 2, 3, 4, 5], [9, 2, 3, 4, 5, 6, 7], 1),
        ([1, 2, 3, 4, 5, 7], [9, 2, 3, 4, 5, 6], None),
        ([1, 2, 3, 4, 5], [2, 3, 4, 5], 0),
        ([1, 8, 2, 3, 4, 5, 6], [9, 2, 3, 4, 5], 1),
        ([1, 2, 3, 4], [9, 2, 3, 4], None),
        ([1], [2], None),
    ],
)
def test_endings_are_together_again_where_both_go_on_alike(own, ending, after) -> None:
    assert together_after(own, ending) == after


@pytest.mark.parametrize("kind", ARCHITECTURES[:2])
def test_runs_of_fork_points_and_of_growths_are_branches(kind: str) -> None:
    model = _model(kind)
    for seed in range(3):
        config = Sampling(max_new_tokens=8, seed=seed, shaping=Shaping(temperature=0.8))
        trace = collect(model, [5, 6, 7], config)
        steps = steps_to_fork(trace, 3)
        for point, at in zip(fork_points_checked(model, trace, steps), steps, strict=True):
            made = branch(model, trace, at, [point.other.token_id])
            assert point.trace.token_ids == made.token_ids
            assert point.trace.checks and all(check.passed for check in point.trace.checks)
        least = trace.token_steps[2].candidates[3].raw_prob
        grown = grow_above_checked(model, trace, 2, least, depth=2, most=6)
        assert len({run.trace.token_ids[: run.at_step + 1] for run in grown}) == len(grown)
        for run in grown:
            source = trace if run.parent is None else grown[run.parent].trace
            (step,) = (s for s in source.token_steps if s.index == run.at_step)
            prob = next(c.raw_prob for c in step.candidates if c.token_id == run.token_id)
            made = branch(model, source, run.at_step, [run.token_id])
            assert prob >= least and run.trace.token_ids == made.token_ids
            assert all(check.passed for check in run.trace.checks)


def test_a_growth_forks_its_own_runs_to_its_depth_and_takes_the_likeliest_first() -> None:
    model, trace = scripted()
    grow = partial(grow_above, model, trace, 0, 0.25)
    ways = [
        [(run.parent, run.at_step, run.token_id) for run in grow(depth=depth, most=most)]
        for depth, most in ((1, 9), (2, 9), (2, 1))
    ]
    assert ways == [[(None, 0, DOG)], [(None, 0, DOG), (0, 1, SAT)], [(None, 0, DOG)]]
    told: list[int] = []
    grow(depth=2, most=9, known=[trace.token_ids], on_runs=told.append)
    assert told == [1, 2]
    with pytest.raises(ConfigError, match="and no run yet"):
        grow(depth=3, most=9, known=[trace.token_ids, (DOG, SAT)])


def test_of_more_runs_than_there_is_room_for_the_likeliest_are_made() -> None:
    model = ScriptedModel({(): [0, 0.4, 0.25, 0.2, 0.15, 0, 0, 0]})
    trace = collect(model, [THE], Greedy(max_new_tokens=3))
    grown = grow_above(model, trace, 0, 0.18, depth=2, most=3)
    # Of the second step the run itself and each of the two runs have two more.
    assert [(run.parent, run.at_step, run.token_id) for run in grown] == [
        (None, 0, 2),
        (None, 0, 3),
        (None, 1, 2),
    ]


@pytest.mark.parametrize(
    ("least", "depth", "words"),
    [
        (0.0, 1, "between 0 and 1"),
        (1.0, 1, "between 0 and 1"),
        (0.5, 1, "No other candidate of step 1"),
        (0.2, 9, "1 to 8 steps in a row, got 9"),
    ],
)
def test_a_growth_that_makes_no_run_is_refused(least: float, depth: int, words: str) -> None:
    model, trace = scripted()
    with pytest.raises(ConfigError, match=words):
        grow_above(model, trace, 0, least, depth=depth, most=4)


def test_a_stop_keeps_what_has_ended() -> None:
    model, trace = scripted()
    told: list[int] = []
    points = fork_points(
        model, trace, [0, 3], on_fork=told.append, should_stop=lambda: len(told) > 0
    )
    assert [point.at_step for point in points] == [0] and told == [1]
    grown = grow_above(model, trace, 0, 0.25, depth=2, most=4, should_stop=lambda: True)
    assert [run.trace.finish_reason for run in grown] == ["cancelled"]


def test_more_steps_than_are_bounded_are_refused() -> None:
    model, trace = scripted()
    with pytest.raises(ConfigError, match=f"1 to {MOST_FORKS} fork points"):
        fork_points(model, trace, [])
    with pytest.raises(ConfigError, match="Step 2 holds no candidate but its own"):
        fork_points(model, trace, [1])
