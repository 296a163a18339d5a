"""A canvas of noise equals transformers' DiffusionGemma, every denoising step, and is proved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import EntropyBoundSamplerConfig

from core import Diffusion, Greedy, Shaping, Trace, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.diffusion.noise_checks import tempered_entropies
from core.decoding.diffusion.types import CanvasStep
from core.decoding.errors import ConfigError, ModelError, TraceError
from core.models.running.noise import NoiseModel
from core.traces.file import trace_of
from tests.decoding.checks.forging import failed
from tests.decoding.diffusion.test_checks import with_open, with_step
from tests.depth import slow
from tests.models.builders import random_masked_model, random_noise_model

PROMPT = "the fox had"
PLAIN = {"canvas": "noise", "max_new_tokens": 20, "max_denoising_steps": 6}


class Drafts:
    """A streamer that keeps the canvas of every denoising step."""

    def __init__(self) -> None:
        self.drafts = list[list[int]]()

    def put(self, _: torch.Tensor) -> None:
        """Take whole canvases, which `generate` returns too."""

    def put_draft(self, value: torch.Tensor) -> None:
        self.drafts.append(value[0].tolist())

    def end(self) -> None:
        """Take the end of the run."""


def drafts_of(trace: Trace) -> list[list[int]]:
    """The likeliest token of each position, for each step."""
    return [
        [next(c.token_id for c in step.candidates if c.position == one.position)
         for one in step.open]
        for step in canvas_steps(trace)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [*range(12), *map(slow, range(12, 40))])
def test_every_denoising_step_is_that_of_generate(seed: int) -> None:
    model = random_noise_model(seed % 4)
    settings = {
        "max_new_tokens": 8 + seed, "max_denoising_steps": 3 + seed % 9,
        "t_min": 0.1 + 0.02 * seed, "t_max": 1.2 + 0.02 * seed,
        "stability_threshold": seed % 3, "confidence_threshold": (0.001, 0.3, 9.0)[seed % 3],
    }  # fmt: skip
    bound, ids = (0.01, 0.5, 4.0)[seed // 3 % 3], model.encode(PROMPT)
    streamer = Drafts()
    torch.manual_seed(seed)
    hf: Any = model.hf_model
    output = hf.generate(
        torch.tensor([ids]), streamer=streamer, eos_token_id=0,
        sampler_config=EntropyBoundSamplerConfig(bound), **settings,
    )  # fmt: skip
    expected = output.sequences[0, len(ids) :].tolist()[: settings["max_new_tokens"]]
    if 0 in expected:
        expected = expected[: expected.index(0) + 1]
    config = Diffusion(canvas="noise", seed=seed, entropy_bound=bound, **settings)  # type: ignore[arg-type]
    trace = collect(model, ids, config)
    drafts = drafts_of(trace)
    pairs = enumerate(zip(drafts, streamer.drafts, strict=False))
    parting = next((at for at, (own, theirs) in pairs if own != theirs), None)
    if parting is None:
        assert len(drafts) == len(streamer.drafts) and list(trace.token_ids) == expected
    else:
        # seed 26 on some processors: two positions have the same entropy but for rounding
        assert parting > 0 and _is_tied(canvas_steps(trace)[parting - 1])


def _is_tied(step: CanvasStep) -> bool:
    """Return whether rounding decides which positions a step accepts."""
    entropies = tempered_entropies(step).tolist()
    accepted = [entropy for entropy, one in zip(entropies, step.open, strict=True) if one.filled]
    others = [entropy for entropy, one in zip(entropies, step.open, strict=True) if not one.filled]
    return bool(accepted and others) and min(others) - max(accepted) < 2e-6


@cache
def run(name: str) -> Trace:
    settings: dict[str, Any] = {
        "plain": {},
        "settled": {"confidence_threshold": 9.0, "stability_threshold": 0},
        "wide": {"entropy_bound": 9.0, "max_new_tokens": 13},
    }[name]
    return collect(random_noise_model(), PROMPT, Diffusion(seed=2, **{**PLAIN, **settings}))


@pytest.mark.parametrize("name", ["plain", "settled", "wide"])
def test_an_honest_run_is_proved_and_stored(name: str) -> None:
    trace = run(name)
    assert verdict(check(trace, random_noise_model())) == "proved"
    assert trace_of(trace.to_dict()) == trace
    assert "".join(step.text for step in canvas_steps(trace)) == trace.text


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"seed": 9}, "stages_again"),
        ({"entropy_bound": 50.0}, "order_of_scores"),
        ({"max_denoising_steps": 5}, "order_of_scores"),
        ({"confidence_threshold": 50.0, "stability_threshold": 0}, "order_of_scores"),
        ({"t_max": 0.9}, "canvas_again"),
        ({"max_new_tokens": 9}, "steps_whole"),
        ({"canvas": "whole"}, "steps_whole"),
    ],
)
def test_settings_of_another_run_are_found(changes: dict[str, Any], found: str) -> None:
    forged = replace(run("plain"), config=replace(run("plain").config, **changes))
    assert found in failed(forged, random_noise_model())


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"score": -0.001}, "order_of_scores"),
        ({"filled": True}, "order_of_scores"),
        ({"entropy": 0.123}, "canvas_again"),
        ({"prob": 0.0}, "canvas_again"),
        ({"text": "!"}, "stages_again"),
    ],
)
def test_a_forged_position_is_found(changes: dict[str, Any], found: str) -> None:
    assert found in failed(with_open(run("plain"), 0, False, **changes), random_noise_model())


def test_another_drawn_token_and_other_noise_are_found() -> None:
    trace, model = run("plain"), random_noise_model()
    step = canvas_steps(trace)[0]
    place = next(one for one in step.open if not one.filled)
    listed = [c for c in step.candidates if c.position == place.position]
    other = next(c for c in listed if c.token_id != place.token_id)
    forged = with_open(trace, 0, False, token_id=other.token_id, text=other.text, prob=other.prob)
    assert failed(forged) == set()
    assert "stages_again" in failed(forged, model)
    first, *others = canvas_steps(trace)[1].canvas
    changed = first._replace(token_id=(first.token_id + 1) % 290)
    changed = changed._replace(text=model.token_text(changed.token_id))
    assert failed(with_step(trace, 1, canvas=(changed, *others)), model) != set()


def test_a_canvas_without_its_tokens_is_refused() -> None:
    data = run("plain").to_dict()
    del data["steps"][0]["canvas"]
    with pytest.raises(TraceError, match="canvas"):
        trace_of(data)


def test_each_kind_of_canvas_asks_for_its_model_in_one_sentence() -> None:
    noise, masked = random_noise_model(), random_masked_model()
    with pytest.raises(ModelError, match=r"set the canvas to noise, or take embedded:diffusion\.$"):
        collect(noise, PROMPT, Diffusion())
    with pytest.raises(ModelError, match=r"take a diffusion_gemma model, or another canvas"):
        collect(masked, PROMPT, Diffusion(canvas="noise"))
    with pytest.raises(ModelError, match=r"has no next token"):
        collect(noise, PROMPT, Greedy())
    assert failed(run("plain"), masked) == {"fits_model"}


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"shaping": Shaping(top_k=5)}, "shaping"),
        ({"remask_per_step": 1}, "remask_per_step"),
        ({"cfg_scale": 1.0}, "cfg_scale"),
        ({"min_new_tokens": 2}, "min_new_tokens"),
        ({"t_max": 0.4}, "t_max"),
        ({"max_denoising_steps": 0}, "max_denoising_steps"),
    ],
)
def test_settings_that_do_not_act_on_noise_are_refused(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Diffusion(canvas="noise", **wrong)


def test_a_folder_with_a_checkpoint_is_loaded(tmp_path: Path) -> None:
    model = random_noise_model()
    model.hf_model.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    assert isinstance(loaded, NoiseModel)
    again = collect(loaded, PROMPT, run("plain").config)
    assert again.token_ids == run("plain").token_ids


@pytest.mark.parametrize("length", [0, 1025])
def test_a_canvas_that_can_not_be_recorded_is_refused(length: int) -> None:
    model = random_noise_model()
    model.hf_model.config.canvas_length = length
    with pytest.raises(ModelError, match="1 to 1,024 can be recorded"):
        NoiseModel(model.hf_model, model.tokenizer, model_id="large")
