"""Measuring beside target-only decoding: what is compared, what stops it, what it finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from core import ConfigError, Greedy, Sampling, Shaping, Speculative, collect
from core.decoding.loop import run as loop
from core.decoding.loop.text import Ending
from core.decoding.speculative import engine as speculative
from core.decoding.speculative.drafters import model as drafting
from core.decoding.speculative.measurement import baseline, measure
from core.decoding.speculative.measurement.baseline import run_alone, target_only
from core.decoding.speculative.measurement.kinds import measure_sources
from core.decoding.speculative.measurement.measure import (
    compare,
    losslessness,
    run_seeds,
    sweep_lengths,
)
from core.decoding.speculative.sources import SOURCES
from core.figures import spec_sources_data
from core.figures.speculative.sources.kinds import sources_words
from core.models.scripted import ScriptedModel
from tests.decoding.speculative.speculations import near_draft, scripted, target
from tests.figures.specs import spec_model

GREEDY = Speculative(max_new_tokens=8, shaping=Shaping(temperature=0.0))


def test_the_target_alone_keeps_every_shared_setting() -> None:
    config = Speculative(
        max_new_tokens=9, min_new_tokens=2, stop_strings=("x",), top_candidates=3, seed=7
    )
    assert target_only(config) == Sampling(
        max_new_tokens=9, min_new_tokens=2, stop_strings=("x",), top_candidates=3, seed=7
    )
    assert isinstance(target_only(GREEDY), Greedy)


def test_a_stopped_measurement_gives_what_it_has() -> None:
    model, draft = target("llama"), near_draft("llama")
    assert compare(model, [5, 9], GREEDY, draft, should_stop=lambda: True) is None
    assert sweep_lengths(model, [5, 9], GREEDY, draft, should_stop=lambda: True) is None
    done: list[int] = []
    swept = sweep_lengths(
        model,
        [5, 9],
        GREEDY,
        draft,
        (1, 2, 3),
        repeats=1,
        on_progress=lambda at, _: done.append(at),
        should_stop=lambda: len(done) >= 2,
    )
    assert [point.draft_length for point in swept.points] == [1, 2]
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


def test_prompt_lookup_is_measured_too() -> None:
    config = Speculative(max_new_tokens=8, drafter="prompt_lookup")
    assert compare(target("llama"), [5, 9], config, None, repeats=1) is not None
    assert sweep_lengths(target("llama"), [5, 9], config, None, (2,), repeats=1) is not None
    assert losslessness(target("llama"), [5, 9], config, None, runs=3).runs == 3


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
def test_short_runs_of_a_lossless_rule_pass_the_test(acceptance) -> None:
    model, draft = scripted([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]), scripted([0.2, 0.2, 0.6])
    tested = losslessness(model, [0], Speculative(acceptance=acceptance, seed=1), draft, runs=300)
    assert tested.p_value > 0.01, "the seed is fixed"
    assert tested.degrees == len(tested.outcomes) - 1
    for side in ("speculative", "target_only"):
        assert sum(getattr(outcome, side) for outcome in tested.outcomes) == 300


def test_short_runs_of_typical_acceptance_fail_it() -> None:
    model, draft = scripted([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]), scripted([0.2, 0.2, 0.6])
    config = Speculative(acceptance="typical", seed=1)
    assert losslessness(model, [0], config, draft, runs=300).p_value < 1e-6


def test_a_short_run_is_the_run_that_its_seed_gives() -> None:
    """The branches of one processed prompt give what whole runs of the same seeds give."""
    model, draft = target("llama"), near_draft("llama")
    config = Speculative(max_new_tokens=2, top_candidates=1, shaping=Shaping(top_k=3))
    tested = losslessness(model, [5, 9], Speculative(shaping=Shaping(top_k=3)), draft, runs=40)
    ours, alone = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for seed, other_seed in run_seeds(config.seed, 40):
        short_config = Speculative(max_new_tokens=2, shaping=config.shaping, seed=seed)
        ours[collect(model, [5, 9], short_config, draft=draft).token_ids] += 1
        target_config = target_only(
            Speculative(max_new_tokens=2, shaping=config.shaping, seed=other_seed)
        )
        alone[collect(model, [5, 9], target_config).token_ids] += 1
    for outcome in tested.outcomes:
        if outcome.token_ids:
            assert outcome.speculative == ours[outcome.token_ids]
            assert outcome.target_only == alone[outcome.token_ids]
    assert any(outcome.token_ids for outcome in tested.outcomes)


def test_another_seed_tests_other_runs() -> None:
    seeds = [{seed for pair in run_seeds(seed, 400) for seed in pair} for seed in range(6)]
    assert [len(pairs) for pairs in seeds] == [800] * 6
    assert len(set.union(*seeds)) > 6 * 800 - 5


def test_runs_of_one_token_are_refused_because_nothing_is_drafted_in_them() -> None:
    model = scripted([0.5, 0.5])
    with pytest.raises(ConfigError, match="at least 2 tokens, got 1"):
        losslessness(model, [0], Speculative(), model, runs=20, tokens=1)


def test_a_sweep_stopped_inside_its_target_alone_keeps_the_times_that_it_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stop comes in the second turn, before the target's first token: there is no time to take."""
    clock, done = Clock(monkeypatch), [0]
    config = Speculative(max_new_tokens=8, draft_length=2)
    swept = sweep_lengths(
        clock.model(1.0),
        [0],
        config,
        clock.model(0.25),
        (1, 2),
        repeats=2,
        on_progress=lambda at, _: done.append(at),
        should_stop=lambda: done[-1] == 2,
    )
    assert [point.draft_length for point in swept.points] == [1, 2]
    assert swept.costs.target == 1.0


class Clock:
    """A clock that only forwards move: so many seconds for each position of a model; and the
    running text, which takes 100 seconds a token that nothing may be charged for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module in (drafting, loop, speculative, baseline):
            monkeypatch.setattr(module, "perf_counter", lambda: self.now)
        original = Ending.after

        def after(ending: Ending, index: int, token_id: int):
            self.now += 100.0
            return original(ending, index, token_id)

        monkeypatch.setattr(Ending, "after", after)

    def model(self, seconds: float) -> ScriptedModel:
        """Always b."""

        def row(_: tuple[int, ...]) -> list[float]:
            self.now += seconds
            return [0.0, 1.0]

        return ScriptedModel(row, tokens=["a", "b"], eos=None)


def test_both_are_timed_by_the_same_acts_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of 2 drafted tokens, all accepted: 3 + 3 + 2 tokens, scored in 3 + 3 + 2 seconds.

    The draft reads one position for each token, and from the second round on the one that it had
    drafted last: 2 + 3 + 2 positions of a quarter.
    """
    clock = Clock(monkeypatch)
    config = Speculative(max_new_tokens=8, draft_length=2)
    comparison = compare(clock.model(1.0), [0, 1], config, clock.model(0.25), repeats=2)
    steps = comparison.speculative.rounds
    assert [step.seconds[:3] for step in steps] == [(0.5, 3, 0), (0.75, 3, 0), (0.5, 2, 0)]
    assert [step.seconds.record for step in steps] == [300, 300, 200]
    assert comparison.target_only.seconds[0].total == 0 < comparison.target_only.prefill == 2
    assert comparison.target_token_seconds == (1.0, 1.0)
    assert comparison.target_latency.seconds == (9.0, 9.0)
    assert comparison.speculative_token_seconds == (9.75 / 8,) * 2
    # Both prompts: the target's 2 seconds and the draft's half of one.
    assert comparison.speculative_latency.seconds == (2 + 0.5 + 9.75,) * 2
    assert comparison.speedup == 8 / 9.75
    assert comparison.costs == (0.375, 1.0, ((1, 2.0, 2), (2, 3.0, 4)))


def test_a_sweeps_speed_ups_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    config = Speculative(max_new_tokens=6)
    swept = sweep_lengths(clock.model(1.0), [0], config, clock.model(0.25), (1, 2), repeats=1)
    # Length 1: three rounds of 2 tokens in 2.25, 2.5 and 2.5 seconds; length 2: two of 3 in 3.5
    # and 3.75.
    assert [point.measured for point in swept.points] == pytest.approx([6 / 7.25, 6 / 7.25])
    # Drafting a token: 0.25, 0.5, 0.5, 0.25, 0.375 seconds; the median is 0.375.
    assert swept.costs == (0.375, 1.0, ((1, 2.0, 3), (2, 3.0, 2)))
    assert [point.predicted for point in swept.points] == pytest.approx([2 / 2.375, 3 / 3.75])
    assert (swept.best, swept.break_even) == (1, None)


def test_a_sweep_predicts_from_what_was_drafted() -> None:
    """The draft is never sure enough: whatever the length, one token is drafted a round."""
    model = scripted([0.5, 0.5])
    config = Speculative(max_new_tokens=20, draft_threshold=0.9)
    single, eight = sweep_lengths(model, [0], config, model, (1, 8), repeats=1).points
    assert eight.predicted == pytest.approx(single.predicted)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_timed_target_writes_what_decoding_without_a_draft_writes(temperature: float) -> None:
    for seed in range(4):
        shaping = Shaping(temperature=temperature, top_p=0.9, repetition_penalty=1.2)
        config = Speculative(max_new_tokens=16, min_new_tokens=3, seed=seed, shaping=shaping)
        timed = run_alone(target("llama"), [5, 9], config)
        assert timed.token_ids == collect(target("llama"), [5, 9], target_only(config)).token_ids
        assert len(timed.seconds) == len(timed.token_ids)
    assert run_alone(target("llama"), [5, 9], config, lambda: True) is None


def test_the_first_pair_is_not_timed_and_the_order_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    plain, alone = measure.collect, measure.run_alone

    def spy(name, run):
        return lambda *args, **knobs: order.append(name) or run(*args, **knobs)

    monkeypatch.setattr(measure, "collect", spy("own", plain))
    monkeypatch.setattr(measure, "run_alone", spy("alone", alone))
    model = scripted([0.0, 1.0])
    comparison = compare(model, [0], Speculative(max_new_tokens=4), model, repeats=3)
    assert order == ["alone", "own", "own", "alone"] * 2
    assert len(comparison.speculative_latency.seconds) == len(comparison.target_token_seconds) == 3


def test_one_outcome_alone_can_not_be_tested() -> None:
    model = scripted([0.0, 1.0])
    tested = losslessness(model, [0], Speculative(), model, runs=20)
    assert (tested.p_value, tested.degrees, len(tested.outcomes)) == (None, 0, 1)


def test_every_source_that_suits_is_measured_as_a_chain_and_as_trees() -> None:
    target, draft = spec_model("target"), spec_model("draft")
    config = Speculative(max_new_tokens=16, draft_length=3, seed=2)
    rows = measure_sources(target, [1, 2, 3], config, {"model": draft}, repeats=2)
    shapes = {name: {row.shape for row in rows if row.drafter == name} for name in SOURCES}
    # A scripted model has neither layers nor hidden states nor a tokenizer of its own.
    assert shapes["model"] == {"", "3,2,1", "8"}
    assert shapes["suffix"] == shapes["prompt_lookup"] == shapes["ngram_cache"] == {"", "8"}
    assert shapes["jacobi"] == {""} and shapes["lookahead"] == {""}
    assert not (shapes["early_exit"] or shapes["head"] or shapes["other_tokenizer"])
    chain = next(row for row in rows if row.drafter == "model" and not row.shape)
    run = collect(target, [1, 2, 3], config, draft=draft)
    assert chain.tokens_per_round == pytest.approx(len(run.token_ids) / len(run.rounds))
    assert all(row.spread[0] <= row.speedup <= row.spread[1] for row in rows)
    words = sources_words(rows)
    assert f"{max(row.tokens_per_round for row in rows):.2f}." in words
    assert list(spec_sources_data(rows)["speed-up"]) == sorted(
        (row.speedup for row in rows), reverse=True
    )
    close = [row._replace(speedup=1.2, spread=(0.9, 1.4)) for row in rows]
    assert "Too close to say" in sources_words(close) and "0.90 and 1.40" in sources_words(close)
    clear = [row._replace(speedup=1.2, spread=(1.1, 1.4)) for row in rows]
    assert sources_words(clear).startswith("Fastest here")
    block = measure_sources(
        target, [1, 2, 3], replace(config, acceptance="block"), {"model": draft}, repeats=1
    )
    assert {(row.drafter, row.shape) for row in block} >= {("model", ""), ("jacobi", "")}
    assert not any(row.shape for row in block), "block verification takes no tree"
    assert not measure_sources(target, [1], config, {}, repeats=1, should_stop=lambda: True)
