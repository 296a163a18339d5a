"""Classifier-free guidance: transformers' processor, runs of `generate`, proofs and refusals."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from transformers.generation import logits_process as hf

from core import (
    BeamSearch,
    Diffusion,
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
from core.decoding.autoregressive.branches import branch
from core.decoding.check import verdict
from core.decoding.comparison.deciding import ModelStep
from core.decoding.comparison.parting import compare
from core.decoding.constraints.value import Constraint
from core.decoding.errors import ConfigError, PromptError
from core.decoding.loop.second import FollowedText
from core.decoding.shaping.stage import SecondLogits
from core.decoding.shaping.step import StepShaper
from core.export.catalog import entries_of
from core.figures import second_forward, second_forward_data
from pages.ui.decode.parts import SECOND
from tests.decoding.checks.forging import failed, forge, with_shaping
from tests.depth import slow
from tests.models.builders import random_language_model

PROMPT, NEGATIVE = "Once upon a time", "One day, a big dog"


@pytest.fixture(scope="module")
def model():
    return load_model("embedded:target")


def _configs(scale: float, negative: str) -> tuple[Greedy, Sampling]:
    settings = {"guidance_scale": scale, "negative_prompt": negative}
    drawn = Shaping(temperature=0.9, top_k=50, repetition_penalty=1.1, **settings)
    return (
        Greedy(max_new_tokens=24, shaping=Shaping(**settings)),
        Sampling(max_new_tokens=24, seed=3, draw="multinomial", shaping=drawn),
    )


@pytest.mark.parametrize("size", [50, 4096])
@pytest.mark.parametrize("scale", [0.0, 0.5, 1.5, 7.0])
def test_the_stage_equals_transformers_processor(size: int, scale: float) -> None:
    generator = torch.Generator().manual_seed(size)
    row, other = (3 * torch.randn(size, generator=generator) for _ in range(2))
    reference = hf.UnbatchedClassifierFreeGuidanceLogitsProcessor(scale, None)
    reference.get_unconditional_logits = lambda _: other[None, None]
    expected = reference(torch.tensor([[1, 2]]), row[None])[0]
    shaper = StepShaper(
        Shaping(guidance_scale=scale), forwards=lambda _name, _context: (SecondLogits(other),)
    )
    assert torch.equal(shaper.rows(row[None], [[1, 2]], [0])[0], expected)


def test_a_token_that_a_forward_rules_out_keeps_its_logit() -> None:
    row, other = torch.tensor([0.0, -math.inf, 1.0]), torch.tensor([-math.inf, 0.0, 1.0])
    shaper = StepShaper(
        Shaping(guidance_scale=3.0), forwards=lambda _name, _context: (SecondLogits(other),)
    )
    shaped = shaper.rows(row[None], [[1]], [0])[0]
    assert shaped[1] == -math.inf and torch.isfinite(shaped[[0, 2]]).all()


@pytest.mark.parametrize(
    ("scale", "negative"), [(0.4, ""), slow(0.4, NEGATIVE), slow(1.7, ""), (1.7, NEGATIVE)]
)
def test_generate_makes_the_same_run_and_the_model_proves_it(model, scale, negative) -> None:
    for config in _configs(scale, negative):
        trace = collect(model, PROMPT, config)
        assert model.reference_token_ids(trace.prompt_ids, config) == list(trace.token_ids)
        assert verdict(check(trace, model)) == "proved"
        assert Trace.from_dict(trace.to_dict()) == trace
        second = trace.token_steps[3].stages[1].second
        start = model.encode(negative) if negative else list(trace.prompt_ids[-1:])
        logits = model.start([*start, *trace.token_ids[:3]]).logits[0]
        ids = [candidate.token_id for candidate in trace.token_steps[3].candidates]
        assert second.probs == pytest.approx(logits.softmax(-1)[ids].tolist(), abs=1e-5)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2"])
def test_other_architectures_give_generate_s_tokens_too(kind) -> None:
    model = random_language_model(kind)
    for config in _configs(1.5, "the cat"):
        trace = collect(model, "the fox had", config)
        assert model.reference_token_ids(trace.prompt_ids, config) == list(trace.token_ids)


def test_a_branch_goes_on_as_the_run_with_that_token(model) -> None:
    config = _configs(1.7, NEGATIVE)[1]
    trace = collect(model, PROMPT, config)
    token = next(
        c.token_id for c in trace.token_steps[5].candidates if c.token_id != trace.token_ids[5]
    )
    given = (*trace.token_ids[:5], token)
    whole = collect(model, trace.prompt_ids, config, given=given)
    assert branch(model, trace, 5, [token]).token_ids == whole.token_ids


def test_thinking_is_guided_too(model) -> None:
    config = Reasoning(max_new_tokens=30, shaping=Shaping(guidance_scale=1.5))
    assert verdict(check(collect(model, "What is 3 + 4?", config), model)) == "proved"


@pytest.mark.parametrize("config", [BeamSearch, Speculative])
def test_a_method_without_a_second_forward_refuses_in_one_sentence(model, config) -> None:
    draft = load_model("embedded:draft") if config is Speculative else None
    with pytest.raises(ConfigError, match="runs a second forward beside each step"):
        collect(model, PROMPT, config(shaping=Shaping(guidance_scale=2.0)), draft=draft)


@pytest.mark.parametrize(
    ("name", "value"),
    [("guidance_scale", 1.6), ("guidance_scale", 1.0), ("negative_prompt", "One day, a cat")],
)
def test_other_settings_are_found_with_the_model(model, name, value) -> None:
    trace = collect(model, PROMPT, _configs(1.7, NEGATIVE)[0])
    assert failed(with_shaping(trace, **{name: value}), model) & {
        "stages_again",
        "stages_of_settings",
    }


@pytest.mark.parametrize("forged", [None, "shorter", "other"])
def test_a_forged_second_forward_is_found(model, forged) -> None:
    trace = collect(model, PROMPT, _configs(1.7, NEGATIVE)[0])
    stages = trace.token_steps[4].stages
    second = stages[1].second
    probs = second.probs[:-1] if forged == "shorter" else (0.5, *second.probs[1:])
    stage = stages[1]._replace(second=second._replace(probs=probs) if forged else None)
    assert failed(forge(trace, 4, stages=(stages[0], stage, *stages[2:])), model)


@pytest.mark.parametrize(
    "settings", [{"guidance_scale": -1.0}, {"guidance_scale": math.nan}, {"negative_prompt": 3},
        {"negative_prompt": "x" * 20_001}],
)  # fmt: skip
def test_a_hostile_value_is_refused(settings) -> None:
    with pytest.raises(ConfigError):
        Shaping(**settings)


def test_a_negative_prompt_that_is_too_long_is_refused(model) -> None:
    config = Greedy(shaping=Shaping(guidance_scale=2.0, negative_prompt="a dog " * 3000))
    with pytest.raises(PromptError):
        collect(model, PROMPT, config)


def test_a_followed_text_goes_back_and_to_other_branches(model) -> None:
    followed = FollowedText(model.start)
    for text in ([], [5, 6, 7], [5, 6], [5, 9], [], [5, 9, 9, 1], [4], [4]):
        expected = model.start([1, 2, *text]).logits[0]
        assert torch.allclose(followed.logits([1, 2], text), expected, atol=1e-4)
    assert torch.allclose(followed.logits([3], [4]), model.start([3, 4]).logits[0], atol=1e-4)


def test_the_time_of_a_forced_token_holds_its_second_forward(model) -> None:
    config = Greedy(max_new_tokens=2, shaping=Shaping(guidance_scale=2.0, negative_prompt=NEGATIVE))
    step = collect(model, PROMPT, config, given=[5]).token_steps[0]
    # The time of the first token's own forward is the prompt's.
    assert step.origin == "forced" and step.seconds.forward > 0


def test_a_run_ends_where_its_longer_negative_prompt_has_no_room() -> None:
    model = random_language_model(max_position_embeddings=24)
    negative = "a b c d e f g h"
    room = 24 - len(model.encode(negative))
    shaping = Shaping(guidance_scale=2.0, negative_prompt=negative)
    config = Greedy(max_new_tokens=23, min_new_tokens=23, shaping=shaping)
    trace = collect(model, [5], config)
    assert (len(trace.token_ids), trace.finish_reason) == (room, "length")
    assert verdict(check(trace, model)) == "proved"


def test_the_figure_shows_the_model_s_own_probabilities_under_a_constraint(model) -> None:
    constraint = Constraint("choice", " dog\n cat")
    shaping = Shaping(guidance_scale=2.0, negative_prompt=NEGATIVE, constraint=constraint)
    trace = collect(model, PROMPT, Greedy(max_new_tokens=1, shaping=shaping))
    step = trace.token_steps[0]
    shown = second_forward_data(step, trace)["model"]
    assert sorted(shown) == sorted(candidate.raw_prob for candidate in step.candidates)


def test_guidance_and_dola_are_both_drawn(model) -> None:
    shaping = Shaping(guidance_scale=2.0, negative_prompt=NEGATIVE, dola_layers="low")
    trace = collect(model, PROMPT, Greedy(max_new_tokens=4, shaping=shaping))
    step = trace.token_steps[2]
    first, second = (
        second_forward(step, trace, contrast=name) for name in ("guidance_scale", "dola_layers")
    )
    assert [bars.name for bars in first.data[:2]] == ["the prompt", "the negative prompt"]
    layer = step.stages[2].second.layer
    assert [bars.name for bars in second.data[:2]] == ["the guided distribution", f"layer {layer}"]
    # DoLa contrasts what guidance left.
    guided = {c.token_id: p for c, p in zip(step.candidates, step.stages[1].probs, strict=True)}
    bars = second.data[0]
    assert list(bars.x) == [guided[token_id] for _, token_id in bars.customdata]
    names = [entry.name for entry in entries_of(trace)]
    assert [name for name in names if name.startswith("second")] == ["second", "second-2"]
    view = SimpleNamespace(step=step)
    drawn = [row.of(view, trace) for row in SECOND]
    contrasts = [each and each["contrast"] for each in drawn]
    assert contrasts == ["guidance_scale", "dola_layers", None]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mirostat": 2, "adaptive_target": 0.3}, "llama.cpp takes one"),
        ({"watermark_bias": 1.0, "synthid_depth": 3}, "transformers takes one watermark"),
    ],
)
def test_two_of_a_kind_that_no_library_has_together_are_refused(model, settings, words) -> None:
    _, second = settings
    with pytest.raises(ConfigError, match=words) as told:
        Shaping(**settings)
    assert told.value.setting == second
    # A comparison that exchanges one setting at a time goes on past such a pair.
    runs = [
        collect(model, PROMPT, Sampling(max_new_tokens=30, shaping=Shaping(**{name: value})))
        for name, value in settings.items()
    ]
    parting = compare(*runs, lambda at: ModelStep(model, runs[0], at))
    assert parting.at is not None


@pytest.mark.parametrize("settings", [{"watermark_bias": 1.0}, {"synthid_depth": 3}])
def test_masked_diffusion_refuses_a_watermark(settings) -> None:
    with pytest.raises(ConfigError, match="from left to right") as told:
        Diffusion(shaping=Shaping(**settings))
    assert told.value.setting in settings
