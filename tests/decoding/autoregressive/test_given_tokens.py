"""A run whose first tokens are given: each step is that of a run over the same ids."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from core import BeamSearch, ConfigError, Greedy, Sampling, Trace, check, collect
from core.decoding.autoregressive.engine import continue_from
from core.decoding.record.steps import StepSeconds
from core.models.transformers_model import TransformersModel
from core.traces.file import read_trace
from tests.decoding.beam.beams import ARCHITECTURES
from tests.decoding.checks.forging import failed, forge
from tests.decoding.shaping.shapings import random_shaping
from tests.depth import cases
from tests.models.builders import random_language_model

_model = cache(random_language_model)


def _case(kind: str, case: int) -> tuple[TransformersModel, Trace, list[int]]:
    """Return a model, one of its runs, and that run's first tokens with the last one exchanged."""
    dice = random.Random(f"given {kind} {case}")
    model, shaping = _model(kind), random_shaping(dice)
    config: Greedy | Sampling = Greedy(max_new_tokens=12, shaping=shaping)
    if case % 4:
        method = ("inverse_cdf", "gumbel", "multinomial")[case % 4 - 1]
        config = Sampling(max_new_tokens=12, seed=case, draw=method, shaping=shaping)
    trace = collect(model, [dice.randrange(1, 300) for _ in range(5)], config)
    at = dice.randrange(len(trace.token_ids))
    candidate = next(
        c for c in trace.token_steps[at].candidates[1:] if c.token_id not in model.eos_ids
    )
    return model, trace, [*trace.token_ids[:at], candidate.token_id]


def _without_times(trace: Trace) -> list:
    return [replace(step, seconds=StepSeconds(0.0, 0.0, 0.0)) for step in trace.token_steps]


@pytest.mark.parametrize("kind", ARCHITECTURES[:4])
def test_tokens_that_the_run_picked_itself_give_the_run(kind: str) -> None:
    for case in range(cases(12, 4)):
        model, trace, ids = _case(kind, case)
        same = collect(model, trace.prompt_ids, trace.config, given=trace.token_ids[: len(ids)])
        assert _without_times(same) == _without_times(trace)


@pytest.mark.parametrize("kind", ARCHITECTURES[:4])
def test_a_forced_run_is_proved_by_the_model_and_by_generate(kind: str) -> None:
    for case in range(cases(24, 8)):
        model, trace, ids = _case(kind, case)
        forced = collect(model, trace.prompt_ids, trace.config, given=ids)
        assert forced.token_ids[: len(ids)] == tuple(ids)
        assert failed(forced, model) == set(), (kind, case)
        assert _without_times(forced)[: len(ids) - 1] == _without_times(trace)[: len(ids) - 1]
        step = forced.token_steps[len(ids) - 1]
        if step.origin == "forced":
            assert step.forced_as == "given"
            assert step.instead_of == trace.token_ids[len(ids) - 1]
        assert read_trace(forced.to_json().encode()) == forced


def test_a_run_goes_on_from_a_context_with_the_same_noise() -> None:
    model = _model("llama")
    config = Sampling(max_new_tokens=12, seed=3, draw="gumbel")
    trace = collect(model, [5, 6, 7], config)
    context = model.start([5, 6, 7])
    for token_id in trace.token_ids[:6]:
        context.extend([token_id])
    steps = continue_from(model, context, [5, 6, 7], config, emitted=trace.token_ids[:6])
    assert [step.token_id for step in steps] == list(trace.token_ids[6:])


def test_forged_marks_of_a_given_token_are_found() -> None:
    model = _model("llama")
    config = Sampling(max_new_tokens=8, seed=4)
    plain = collect(model, "the fox had", config)
    forced_id = plain.token_steps[3].candidates[1].token_id
    trace = collect(model, "the fox had", config, given=[*plain.token_ids[:3], forced_id])
    step = trace.token_steps[3]
    assert (step.origin, step.instead_of) == ("forced", plain.token_ids[3])
    rival = next(
        c.token_id for c in step.candidates if c.token_id not in (forced_id, step.instead_of)
    )
    for changes in (
        {"instead_of": rival},
        {"instead_of": None},
        {"forced_as": "wait"},
        {"forced_as": None, "origin": "sampled"},
        {"draw": step.draw._replace(uniform=step.draw.uniform / 2)},
    ):
        assert failed(forge(trace, 3, **changes), model), changes
    assert all(outcome.passed for outcome in check(trace, model))


@pytest.mark.parametrize(
    ("config", "given", "words"),
    [
        (BeamSearch(num_beams=2), [1], "Only Greedy and Sampling"),
        (Greedy(), [100_000], "#100000"),
        (Greedy(max_new_tokens=2), [1, 2, 3], "3 tokens are given"),
    ],
)
def test_given_tokens_that_cannot_be_taken_are_refused(config, given, words) -> None:
    with pytest.raises(ConfigError, match=words):
        collect(_model("llama"), [5, 6], config, given=given)
