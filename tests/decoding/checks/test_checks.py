"""Every check can fail: a trace is forged in one place, and the check of that name finds it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import (
    BeamSearch,
    ContrastiveSearch,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    load_model,
)
from core.decoding.check import verdict
from core.decoding.checks.token_replay import SAME_STAGES
from core.decoding.record.steps import TokenStep
from core.models.transformers_model import TransformersModel
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import forge as _forge
from tests.decoding.checks.forging import forge_position, with_shaping
from tests.models.builders import random_language_model, random_model

SHAPING = Shaping(temperature=0.8, top_k=12, top_p=0.9)


@pytest.fixture(scope="module")
def model():
    return random_language_model("qwen2")


@pytest.fixture(scope="module", params=["inverse_cdf", "gumbel", "multinomial", "greedy"])
def trace(request, model) -> Trace:
    if request.param == "greedy":
        return collect(model, "the fox had", Greedy(max_new_tokens=8))
    config = Sampling(max_new_tokens=8, seed=4, shaping=SHAPING, draw=request.param)
    return collect(model, "the fox had", config)


def _with_candidate(step: TokenStep, place: int, **changes) -> tuple:
    candidates = list(step.candidates)
    candidates[place] = candidates[place]._replace(**changes)
    return tuple(candidates)


def test_an_honest_trace_passes_every_check(trace, model) -> None:
    assert _failed(trace, model) == set()
    assert len(check(trace, model)) >= 9


def test_a_contrast_that_underflows_to_zero_removes_nothing() -> None:
    shaping = Shaping(guidance_scale=100.0, negative_prompt="a")
    model = load_model("embedded:target")
    trace = collect(model, "Once upon", Greedy(max_new_tokens=10, shaping=shaping))
    assert _failed(trace, model) == set()


def test_a_filter_that_favours_a_token_is_found(trace) -> None:
    step = trace.token_steps[1]
    last = step.stages[-2]
    top = max(range(len(last.probs)), key=last.probs.__getitem__)
    probs = tuple(p / 2 if i == top else p for i, p in enumerate(last.probs))
    forged = _forge(
        trace, 1, stages=(*step.stages[:-2], last._replace(probs=probs), step.stages[-1])
    )
    assert "filters_renormalise" in _failed(forged)


def test_a_probability_that_the_model_does_not_give_is_found(trace, model) -> None:
    step = trace.token_steps[2]
    place = step.candidates.index(step.chosen)
    doubled = step.chosen.raw_prob * 1.5
    forged = _forge(
        trace,
        2,
        candidates=_with_candidate(step, place, raw_prob=doubled),
        surprisal=step.surprisal - 0.405,
    )
    assert "forward_again" in _failed(forged, model)


def _all_candidates(trace: Trace, at: int, **changes) -> Trace:
    step = trace.token_steps[at]
    return _forge(trace, at, candidates=tuple(c._replace(**changes) for c in step.candidates))


def _another(trace: Trace, at: int) -> int:
    """The place of a candidate that was not chosen and is still in."""
    step = trace.token_steps[at]
    others = [i for i, c in enumerate(step.candidates) if c.token_id != step.token_id]
    return next((i for i in others if step.candidates[i].prob > 0), others[0])


def _forge_candidate(trace: Trace, at: int, **changes) -> Trace:
    step = trace.token_steps[at]
    return _forge(trace, at, candidates=_with_candidate(step, _another(trace, at), **changes))


def _forge_stage(trace: Trace, at: int, place: int, **changes) -> Trace:
    stages = list(trace.token_steps[at].stages)
    stages[place] = stages[place]._replace(**changes)
    return _forge(trace, at, stages=tuple(stages))


# What a forger may do, and the check that finds it without the model.
FORGERIES = {
    "another token than the drawn one": (
        lambda t: _forge(t, 3, token_id=t.token_steps[3].candidates[_another(t, 3)].token_id),
        "tokens_of_draws",
    ),
    "another text": (
        lambda t: replace(t, text=t.text + "!"),
        "steps_make_text",
    ),
    "another raw probability": (
        lambda t: _forge_candidate(t, 1, raw_prob=0.123),
        "candidates_of_stages",
    ),
    "another final probability": (
        lambda t: _forge_candidate(t, 1, prob=0.77),
        "candidates_of_stages",
    ),
    "all ranks equal": (
        lambda t: _all_candidates(t, 1, rank=7),
        "candidates_of_stages",
    ),
    "all logits zero": (
        lambda t: _all_candidates(t, 1, logit=0.0),
        "candidates_of_stages",
    ),
    "more tokens kept than there were": (
        lambda t: _forge_stage(t, 1, -2, kept=10**6),
        "filters_renormalise",
    ),
    "another stage": (
        lambda t: _forge_stage(t, 1, 1, name="min_p"),
        "stages_of_settings",
    ),
    "a stage left out": (
        lambda t: _forge(t, 1, stages=t.token_steps[1].stages[:1]),
        "steps_whole",
    ),
    "a token that is no candidate": (lambda t: _forge(t, 1, token_id=299), "steps_whole"),
    "too few probabilities": (
        lambda t: _forge_stage(t, 1, 0, probs=(1.0,)),
        "steps_whole",
    ),
    "another origin": (
        lambda t: _forge(t, 1, origin="forced"),
        "stages_of_settings",
    ),
    "another penalty in the settings": (
        lambda t: with_shaping(t, repetition_penalty=1.5),
        "stages_of_settings",
    ),
    "steps numbered otherwise": (
        lambda t: _forge(t, 1, index=5),
        "steps_make_text",
    ),
    "another next token in the prompt": (
        lambda t: forge_position(t, 0, next_token_id=3),
        "prompt_reading",
    ),
    "prompt candidates of too much mass": (
        lambda t: forge_position(
            t,
            0,
            candidates=tuple(c._replace(raw_prob=0.9) for c in t.steps[0].positions[0].candidates),
        ),
        "prompt_reading",
    ),
    "missing mass": (
        lambda t: _forge_stage(t, 2, 0, tail_mass=0.5),
        "sum_to_one",
    ),
    "another surprisal": (
        lambda t: _forge(t, 2, surprisal=t.token_steps[2].surprisal + 0.01),
        "surprisal",
    ),
    "another entropy": (
        lambda t: _forge(t, 2, entropy=99.0),
        "entropy",
    ),
    "an entropy that is none": (
        lambda t: _forge(t, 1, entropy=math.nan),
        "entropy",
    ),
    "a step that took longer than the work": (
        lambda t: _forge(t, 1, seconds=t.token_steps[1].seconds._replace(forward=1e6)),
        "times",
    ),
    "work that took longer than the run": (
        lambda t: replace(t, timings=t.timings._replace(decode=t.timings.decode + 1)),
        "times",
    ),
    "another finish reason": (
        lambda t: replace(t, finish_reason="stop"),
        "finish_reason",
    ),
    "an end in the middle": (
        lambda t: _forge(t, 1, finish_reason="eos"),
        "finish_reason",
    ),
    "more tokens than were allowed": (
        lambda t: replace(t, config=replace(t.config, max_new_tokens=3)),
        "finish_reason",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_trace_is_found_out(trace, forgery) -> None:
    forge, name = FORGERIES[forgery]
    assert name in _failed(forge(trace))


DRAWN = {
    "another seed": lambda t: replace(t, config=replace(t.config, seed=99)),
    "another temperature": lambda t: with_shaping(t, temperature=0.6),
    "another top_k": lambda t: with_shaping(t, top_k=0),
    "wiped removals": lambda t: _all_candidates(t, 1, removed_by=None),
}


@pytest.mark.parametrize("draw", ["inverse_cdf", "gumbel", "multinomial"])
@pytest.mark.parametrize("forgery", DRAWN)
def test_forged_settings_of_a_drawn_run_are_found_out(model, draw, forgery) -> None:
    config = Sampling(max_new_tokens=6, seed=4, shaping=SHAPING, draw=draw)
    trace = collect(model, "the fox had", config)
    assert _failed(trace, model) == set()
    assert _failed(DRAWN[forgery](trace), model) != set()


def test_an_interval_at_the_other_end_of_the_bar_is_found(model) -> None:
    trace = collect(model, "the fox", Sampling(max_new_tokens=6, shaping=SHAPING))
    step = max(trace.token_steps, key=lambda s: s.draw.interval[0])
    width = step.draw.interval[1] - step.draw.interval[0]
    draw = step.draw._replace(interval=(0.0, width), uniform=width / 2)
    failed = _failed(_forge(trace, step.index, draw=draw), model)
    assert {SAME_STAGES, "dice_of_seed"} <= failed


FOR_THE_MODEL = {
    "token ids of no step": lambda t: replace(t, token_ids=(*t.token_ids, 5, 6)),
    "other token ids": lambda t: replace(t, token_ids=t.token_ids[::-1]),
    "an id outside the vocabulary": lambda t: _forge_candidate(t, 0, token_id=10**6),
    "no prompt": lambda t: replace(t, prompt_ids=()),
    "an impossible prompt": lambda t: replace(t, prompt_ids=(10**7,) * 5),
    "a prompt beyond the window": lambda t: replace(t, prompt_ids=(1,) * 5000),
    "another model": lambda t: replace(t, model_id="another"),
    "length before its time": lambda t: replace(
        t, config=replace(t.config, max_new_tokens=200), finish_reason="length"
    ),
    "an end without its token": lambda t: replace(
        _forge(t, len(t.token_steps) - 1, finish_reason="eos"), finish_reason="eos"
    ),
}


@pytest.mark.parametrize("forgery", FOR_THE_MODEL)
def test_a_trace_that_cannot_be_the_model_s_fails_and_runs_nothing(trace, model, forgery) -> None:
    assert trace.finish_reason == "length"
    outcomes = {o.name: o for o in check(FOR_THE_MODEL[forgery](trace), model)}
    assert not outcomes["fits_model"].passed
    assert "forward_again" not in outcomes


def test_a_prompt_position_that_the_model_does_not_give_is_found(trace, model) -> None:
    candidates = trace.steps[0].positions[0].candidates
    moved = tuple(c._replace(logit=c.logit + 1) for c in candidates)
    assert _failed(forge_position(trace, 0, candidates=moved), model) == {"forward_again"}


def test_a_candidate_s_text_that_is_not_its_token_s_is_found(trace, model) -> None:
    forged = _all_candidates(trace, 1, text="lie")
    assert _failed(forged) == {"token_texts"}
    assert "tokenizer_text" in _failed(forged, model)


def test_a_reference_that_emits_another_token_fails_unless_they_tie(model, monkeypatch) -> None:
    trace = collect(model, "the fox had", Greedy(max_new_tokens=5))
    for place, passes in ((0, True), (1, False)):
        token_id = trace.token_steps[2].candidates[place].token_id
        emitted = [*trace.token_ids[:2], token_id, *trace.token_ids[3:]]
        monkeypatch.setattr(type(model), "reference_token_ids", lambda *_, ids=emitted: ids)
        outcome = check(trace, model)[-1]
        assert outcome.name == "generate_tokens"
        assert outcome.passed is passes


def test_the_tolerance_is_that_of_the_weights_type(trace, model) -> None:
    assert next(o for o in check(trace, model) if o.name == "forward_again").tolerance < 2e-4
    forged = replace(trace, dtype="bfloat16")
    (failed,) = (o for o in check(forged, model) if not o.passed)
    assert "said to be 'bfloat16', here they are float32" in failed.detail
    weights = random_model("qwen2").to(torch.bfloat16)
    half = TransformersModel(weights, model.tokenizer, model_id=model.model_id)
    (failed,) = (o for o in check(forged, half) if not o.passed)
    assert "no numbers of bfloat16" in failed.detail
    checks = check(collect(half, "the fox had", Greedy(max_new_tokens=3)), half)
    assert all(o.passed for o in checks)
    assert 0.03 < next(o for o in checks if o.name == "forward_again").tolerance < 1


def test_a_cancelled_run_is_checked_as_far_as_it_went(model) -> None:
    seen = []
    trace = collect(
        model,
        "the fox",
        Greedy(max_new_tokens=9),
        on_step=seen.append,
        should_stop=lambda: len(seen) >= 4,
    )
    assert trace.finish_reason == "cancelled"
    assert _failed(trace, model) == set()


@pytest.mark.parametrize(
    "kind", [Greedy, Sampling, Reasoning, ContrastiveSearch, BeamSearch, Speculative]
)
@pytest.mark.parametrize("steps", [0, 1])
def test_a_run_stopped_before_its_first_token_is_checked(model, kind, steps) -> None:
    config = Speculative(drafter="prompt_lookup") if kind is Speculative else kind()
    seen = []
    trace = collect(
        model, "the fox", config, on_step=seen.append, should_stop=lambda: len(seen) == steps
    )
    assert len(trace.steps) == steps and trace.token_ids == ()
    assert _failed(trace, model) == set()


def test_the_tail_s_tokens_are_less_probable_than_the_candidates(model) -> None:
    trace = collect(model, "the fox had", Greedy(max_new_tokens=3, top_candidates=5))
    assert _failed(trace) == set()
    step = trace.token_steps[1]
    shown = -sum(c.raw_prob * math.log(c.raw_prob) for c in step.candidates)
    least = shown - step.tail_mass * math.log(step.candidates[-1].raw_prob)
    assert least > shown - step.tail_mass * math.log(step.tail_mass) + 0.02
    forged = _forge(trace, 1, entropy=least - 0.01)
    assert "forward_again" in _failed(forged, model)


def test_only_the_model_proves(trace, model) -> None:
    assert verdict(check(trace)) == "consistent"
    assert verdict(check(trace, model)) == "proved"
    forged = replace(trace, prompt="the dog had", rendered_prompt="the dog had")
    assert verdict(check(forged)) == "failed"
