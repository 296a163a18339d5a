"""Measuring beside target-only decoding: what is compared, what stops it, what it finds."""

from __future__ import annotations

from collections import Counter

import pytest

from core import Greedy, Sampling, Shaping, Speculative, collect
from core.decoding.speculative_runs import compare, losslessness, sweep_lengths, target_only
from tests.decoding.beams import one_thread
from tests.decoding.speculations import near_draft, scripted, target

_one_thread = pytest.fixture(autouse=True)(one_thread)
GREEDY = Speculative(max_new_tokens=8, shaping=Shaping(temperature=0.0))


def test_the_target_alone_keeps_every_shared_setting() -> None:
    config = Speculative(
        max_new_tokens=9, min_new_tokens=2, stop_strings=("x",), top_candidates=3, seed=7
    )
    alone = target_only(config)
    assert alone == Sampling(
        max_new_tokens=9, min_new_tokens=2, stop_strings=("x",), top_candidates=3, seed=7
    )
    assert isinstance(target_only(GREEDY), Greedy)


def test_a_comparison_of_greedy_runs_has_the_same_tokens_and_positive_times() -> None:
    seen: list[tuple[int, int]] = []
    found = compare(
        target("llama"),
        [5, 9],
        GREEDY,
        near_draft("llama"),
        repeats=3,
        on_progress=lambda *at: seen.append(at),
    )
    assert found is not None
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert found.same_tokens
    assert len(found.speculative_latency.seconds) == len(found.target_latency.seconds) == 3
    assert found.speedup > 0
    assert found.costs.draft > 0 < found.costs.target
    values = [value for _, value in found.target_latency.percentiles]
    assert values == sorted(values)


def test_a_stopped_measurement_gives_what_it_has() -> None:
    model, draft = target("llama"), near_draft("llama")
    assert compare(model, [5, 9], GREEDY, draft, should_stop=lambda: True) is None
    assert sweep_lengths(model, [5, 9], GREEDY, draft, should_stop=lambda: True) is None
    done: list[int] = []
    found = sweep_lengths(
        model,
        [5, 9],
        GREEDY,
        draft,
        (1, 2, 3),
        repeats=1,
        on_progress=lambda at, _: done.append(at),
        should_stop=lambda: len(done) >= 2,
    )
    assert found is not None
    assert [point.draft_length for point in found.points] == [1, 2]
    runs: list[int] = []
    short = losslessness(
        model,
        [5, 9],
        Speculative(),
        draft,
        on_progress=lambda at, _: runs.append(at),
        should_stop=lambda: len(runs) >= 3,
    )
    assert short.runs == 3


def test_a_sweep_measures_and_predicts_every_length() -> None:
    found = sweep_lengths(target("llama"), [5, 9], GREEDY, target("llama"), (4, 1), repeats=2)
    assert found is not None
    assert [point.draft_length for point in found.points] == [1, 4]
    assert found.alpha == pytest.approx(1.0)
    assert [point.acceptance_rate for point in found.points] == [1.0, 1.0]
    assert [point.tokens_per_round for point in found.points] == [2.0, 4.0]
    assert all(point.measured > 0 < point.predicted for point in found.points)
    assert found.best is not None


def test_prompt_lookup_is_measured_too() -> None:
    config = Speculative(max_new_tokens=8, drafter="prompt_lookup")
    assert compare(target("llama"), [5, 9], config, None, repeats=1) is not None
    assert sweep_lengths(target("llama"), [5, 9], config, None, (2,), repeats=1) is not None
    assert losslessness(target("llama"), [5, 9], config, None, runs=3).runs == 3


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
def test_short_runs_of_a_lossless_rule_pass_the_test(acceptance) -> None:
    model, draft = scripted([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]), scripted([0.2, 0.2, 0.6])
    config = Speculative(acceptance=acceptance, seed=1)
    found = losslessness(model, [0], config, draft, runs=300)
    assert found.p_value is not None
    assert found.p_value > 0.01, "the seed is fixed"
    assert found.degrees == len(found.outcomes) - 1
    for side in ("speculative", "target_only"):
        assert sum(getattr(outcome, side) for outcome in found.outcomes) == 300


def test_short_runs_of_typical_acceptance_fail_it() -> None:
    model, draft = scripted([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]), scripted([0.2, 0.2, 0.6])
    config = Speculative(acceptance="typical", seed=1)
    found = losslessness(model, [0], config, draft, runs=300)
    assert found.p_value is not None
    assert found.p_value < 1e-6


def test_a_short_run_is_the_run_that_its_seed_gives() -> None:
    """The branches of one processed prompt give what whole runs of the same seeds give."""
    model, draft = target("llama"), near_draft("llama")
    config = Speculative(max_new_tokens=2, top_candidates=1, shaping=Shaping(top_k=3))
    found = losslessness(model, [5, 9], Speculative(shaping=Shaping(top_k=3)), draft, runs=40)
    ours, alone = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for at in range(40):
        own = Speculative(max_new_tokens=2, shaping=config.shaping, seed=2 * at)
        ours[collect(model, [5, 9], own, draft=draft).token_ids] += 1
        other = target_only(Speculative(max_new_tokens=2, shaping=config.shaping, seed=2 * at + 1))
        alone[collect(model, [5, 9], other).token_ids] += 1
    for outcome in found.outcomes:
        if outcome.token_ids:
            assert outcome.speculative == ours[outcome.token_ids]
            assert outcome.target_only == alone[outcome.token_ids]
    assert any(outcome.token_ids for outcome in found.outcomes)


def test_one_outcome_alone_can_not_be_tested() -> None:
    model = scripted([0.0, 1.0])
    found = losslessness(model, [0], Speculative(), model, runs=20)
    assert (found.p_value, found.degrees, len(found.outcomes)) == (None, 0, 1)
