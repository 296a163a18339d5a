"""Another token at a step of a run: what is before it stays, what follows is proved."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    PromptStep,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
)
from core.decoding.autoregressive.branches import branch, branch_each, single_token_config
from core.decoding.record.steps import StepSeconds
from core.decoding.record.trace import Timings
from core.models.scripted import ScriptedModel
from core.traces.file import read_trace
from tests.decoding.beam.beams import ARCHITECTURES
from tests.decoding.checks.forging import failed
from tests.decoding.shaping.shapings import random_shaping
from tests.depth import cases, mostly_slow
from tests.models.builders import random_language_model

_model = cache(random_language_model)


def _run(kind: str, case: int) -> Trace:
    dice = random.Random(f"branch {kind} {case}")
    shaping = random_shaping(dice)
    config: Greedy | Sampling = Greedy(max_new_tokens=10, shaping=shaping, use_cache=case % 2 == 0)
    if case % 4:
        method = ("inverse_cdf", "gumbel", "multinomial")[case % 4 - 1]
        config = Sampling(
            max_new_tokens=10, seed=case, draw=method, shaping=shaping, use_cache=case % 3 > 0
        )
    return collect(_model(kind), [dice.randrange(1, 300) for _ in range(5)], config)


def _timeless(trace: Trace) -> Trace:
    """The trace without what a clock says."""
    steps = [
        replace(step, seconds=0.0 if isinstance(step, PromptStep) else StepSeconds(0.0, 0.0, 0.0))
        for step in trace.steps
    ]
    return replace(trace, steps=tuple(steps), timings=Timings(0.0, 0.0, 0.0), created="")


@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES, ARCHITECTURES[:2]))
def test_a_branch_with_the_token_that_was_drawn_is_the_run_itself(kind: str) -> None:
    for case in range(cases(8, 4)):
        trace = _run(kind, case)
        for at in range(len(trace.token_ids)):
            same = branch(_model(kind), trace, at, trace.token_ids[at : at + 1])
            assert _timeless(same) == _timeless(trace), (kind, case, at)


@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES[:4], ARCHITECTURES[:2]))
def test_a_branch_is_proved_and_equals_a_run_whose_first_tokens_are_given(kind: str) -> None:
    for case in range(cases(12, 4)):
        trace, dice = _run(kind, case), random.Random(case)
        at = dice.randrange(len(trace.token_ids))
        token_id = next(c.token_id for c in trace.token_steps[at].candidates[1:] if c.token_id > 3)
        made = branch(_model(kind), trace, at, [token_id])
        assert made.steps[: at + 1] == trace.steps[: at + 1]
        assert made.token_ids[at] == token_id
        assert failed(made, _model(kind)) == set(), (kind, case)
        ids = [*trace.token_ids[:at], token_id]
        fresh = collect(_model(kind), trace.prompt_ids, trace.config, given=ids)
        assert _timeless(made).steps == _timeless(fresh).steps
        assert read_trace(made.to_json().encode()) == made


def test_a_branch_of_a_branch_keeps_the_forced_token() -> None:
    model = _model("llama")
    trace = collect(model, [5, 6, 7], Sampling(max_new_tokens=9, seed=2))
    first = branch(model, trace, 2, [trace.token_steps[2].candidates[1].token_id])
    second = branch(model, first, 6, [first.token_steps[6].candidates[2].token_id])
    assert second.token_steps[:6] == first.token_steps[:6]
    assert failed(second, model) == set()
    assert _timeless(branch(model, first, 5, first.token_ids[5:6])) == _timeless(first)


def test_another_seed_throws_other_dice_from_the_step_on() -> None:
    model, config = _model("llama"), Sampling(max_new_tokens=12, seed=2)
    trace = collect(model, [5, 6, 7], config)
    texts = {branch(model, trace, 4, (), config=replace(config, seed=s)).text for s in range(20)}
    assert len(texts) > 10
    made = branch(model, trace, 4, (), config=replace(config, seed=8))
    assert made.token_ids[:4] == trace.token_ids[:4]
    assert made.config.seed == 8
    assert failed(made, model) == set()


def test_another_model_s_steps_are_not_copied() -> None:
    trace, model = _run("llama", 1), _model("qwen2")
    made = branch(model, trace, 4, [trace.token_ids[4]])
    assert made.token_ids[:5] == trace.token_ids[:5]
    assert failed(made, model) == set()


def test_steps_are_told_from_the_first_one_and_a_stop_ends_the_branch() -> None:
    model = _model("llama")
    trace = collect(model, [5, 6, 7], Greedy(max_new_tokens=9))
    steps: list[object] = []
    made = branch(
        model,
        trace,
        3,
        [trace.token_ids[3]],
        on_step=steps.append,
        should_stop=lambda: len(steps) > 6,
    )
    assert tuple(steps) == made.steps
    assert len(made.token_ids) == 6
    assert made.finish_reason == "cancelled"
    assert all(outcome.passed for outcome in check(made, model))


def test_copied_steps_keep_their_time() -> None:
    model = _model("llama")
    trace = collect(model, [5, 6, 7], Greedy(max_new_tokens=9))
    slow = tuple(
        step if isinstance(step, PromptStep) else replace(step, seconds=StepSeconds(50.0, 0, 0))
        for step in trace.steps
    )
    made = branch(model, replace(trace, steps=slow), 5, [trace.token_ids[5]])
    assert 250 <= made.timings.prefill + made.timings.decode <= made.timings.total < 260
    assert made.token_steps[5].seconds.forward > 0


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (BeamSearch(num_beams=3, max_new_tokens=8), Greedy),
        (BeamSearch(num_beams=3, max_new_tokens=8, do_sample=True, seed=5), Sampling),
        (Speculative(max_new_tokens=8, drafter="prompt_lookup", seed=5), Sampling),
    ],
)
def test_a_run_of_another_method_goes_on_token_by_token(config, kind) -> None:
    model = _model("llama")
    config = replace(config, shaping=Shaping(repetition_penalty=1.3))
    trace = collect(model, [5, 6, 7, 8], config)
    made = branch(model, trace, 3, [9])
    assert made.config == single_token_config(config)
    assert isinstance(made.config, kind)
    assert made.config.shaping == config.shaping
    assert made.token_ids[:4] == (*trace.token_ids[:3], 9)
    assert failed(made, model) == set()


@pytest.mark.parametrize(
    ("at", "ids", "words"),
    [
        (6, [1], "there is no step 7"),
        (-1, [1], "there is no step 0"),
        (3, [100_000], "#100000"),
        (3, [1, 1, 1, 1], "7 tokens are given"),
    ],
)
def test_a_branch_that_cannot_be_is_refused(at: int, ids: list[int], words: str) -> None:
    model = _model("llama")
    trace = collect(model, [5, 6, 7], Greedy(max_new_tokens=6))
    with pytest.raises(ConfigError, match=words):
        branch(model, trace, at, ids)


@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES[:4], ARCHITECTURES[:2]))
def test_branches_of_one_batch_are_those_of_runs_of_their_own(kind: str) -> None:
    for case in range(cases(6, 2)):
        trace, model = _run(kind, case), _model(kind)
        at = random.Random(case).randrange(len(trace.token_ids))
        choices = [[c.token_id] for c in trace.token_steps[at].candidates[:5] if c.token_id > 3]
        together = branch_each(model, trace, at, choices)
        for made, token_ids in zip(together, choices, strict=True):
            assert failed(made, model) == set(), (kind, case)
            assert made.token_ids == branch(model, trace, at, token_ids).token_ids, (kind, case)
            assert made.steps[: at + 1] == trace.steps[: at + 1]


def test_a_branch_that_ends_leaves_the_batch_and_a_stop_ends_all() -> None:
    model = ScriptedModel({(): [0.0, 0.0, 0.4, 0.3, 0.3, 0.0, 0.0, 0.0], (3,): [1.0, *[0.0] * 7]})
    trace = collect(model, [2], Greedy(max_new_tokens=6))
    counts: list[int] = []
    ended, whole = branch_each(model, trace, 1, [[3], [4]], on_tokens=counts.append)
    assert (ended.token_ids, ended.finish_reason) == ((2, 3, 0), "eos")
    assert (len(whole.token_ids), whole.finish_reason) == (6, "length")
    assert counts == [1, 2, 3, 4, 5]
    stopped = branch_each(
        model, trace, 1, [[3], [4]], on_tokens=counts.append, should_stop=lambda: len(counts) > 6
    )
    assert [made.finish_reason for made in stopped] == ["eos", "cancelled"]
    assert [len(made.token_ids) for made in stopped] == [3, 3]
    assert all(outcome.passed for made in stopped for outcome in check(made))


def test_branches_of_a_run_of_another_method_are_made_one_by_one() -> None:
    model = _model("llama")
    trace = collect(model, [5, 6, 7, 8], BeamSearch(num_beams=3, max_new_tokens=8))
    for made, token_id in zip(branch_each(model, trace, 3, [[9], [10]]), (9, 10), strict=True):
        assert made.token_ids[:4] == (*trace.token_ids[:3], token_id)
        assert failed(made, model) == set()
