"""Every order against transformers' own classes, applied one after the other in that order."""

from __future__ import annotations

import itertools

import pytest
import torch
from transformers.generation import logits_process as hf

from core.decoding.lab.step import distributions, skipped_processors
from core.decoding.shaping.config import SETTINGS as SPECS
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, ORDERS, TRANSFORMERS, VLLM, Order
from core.decoding.shaping.step import StepShaper
from tests.decoding.lab.scenes import probabilities, random_scene, scene_of

WARPERS = {
    "repetition_penalty": hf.RepetitionPenaltyLogitsProcessor,
    "temperature": hf.TemperatureLogitsWarper,
    "top_h": hf.TopHLogitsWarper,
    "top_k": hf.TopKLogitsWarper,
    "top_p": hf.TopPLogitsWarper,
    "min_p": hf.MinPLogitsWarper,
    "typical_p": hf.TypicalLogitsWarper,
    "epsilon_cutoff": hf.EpsilonLogitsWarper,
    "eta_cutoff": hf.EtaLogitsWarper,
}
SETTINGS = [
    Shaping(temperature=0.7, top_p=0.9),
    Shaping(temperature=1.7, top_k=40, top_p=0.8, min_p=0.02),
    Shaping(temperature=0.5, top_k=25, min_p=0.1, typical_p=0.8, repetition_penalty=1.3),
    Shaping(temperature=1.4, top_h=0.6, min_p=0.01),
    Shaping(temperature=1.2, epsilon_cutoff=0.004, eta_cutoff=0.01, top_p=0.95),
    Shaping(
        temperature=0.9,
        top_k=60,
        top_p=0.97,
        min_p=0.005,
        typical_p=0.95,
        epsilon_cutoff=0.001,
        eta_cutoff=0.002,
        repetition_penalty=1.1,
    ),
]
CASES = list(itertools.product(ORDERS.values(), SETTINGS, range(4)))


def by_transformers(shaping: Shaping, order: Order, logits: torch.Tensor, ids: list[int]):
    """Return the final logits, `[vocab]`: transformers' classes applied in this order."""
    neutral, row = Shaping(), logits[None].clone()
    for name in order.processors:
        value = getattr(shaping, name)
        if value != getattr(neutral, name):
            row = WARPERS[name](value)(torch.tensor([ids]), row)
    return row[0]


@pytest.mark.parametrize(("order", "shaping", "seed"), CASES)
def test_an_order_gives_what_transformers_classes_give_in_that_order(order, shaping, seed) -> None:
    scene = random_scene(400 if seed else 17_000, seed)  # the second is cut as a long row
    if seed % 2:
        scene = scene_of(scene.logits.mul(2).round().div(2), scene.previous_ids)  # many ties
    last = distributions(scene, shaping, order)[-1]
    expected = by_transformers(shaping, order, scene.logits, list(scene.previous_ids))
    remaining = torch.nonzero(expected > -torch.inf).squeeze(-1)
    ids = last.ids if last.ids is not None else torch.arange(len(last.logits))
    assert torch.equal(ids, remaining)
    torch.testing.assert_close(last.probs, expected[remaining].softmax(-1), rtol=1e-5, atol=1e-7)


def test_transformers_order_is_the_order_of_runs() -> None:
    scene, shaping = random_scene(), SETTINGS[-1]
    run = StepShaper(shaping).distributions(scene.logits, scene.previous_ids, 0)
    lab = distributions(scene, shaping, TRANSFORMERS)
    assert [stage.name for stage in lab] == [stage.name for stage in run]
    assert all(torch.equal(a.probs, b.probs) for a, b in zip(lab, run, strict=True))


def test_top_p_before_the_temperature_counts_the_model_s_own_probabilities() -> None:
    scene = probabilities(0.4, 0.3, 0.2, 0.1)
    shaping = Shaping(temperature=0.25, top_p=0.72)
    assert distributions(scene, shaping, TRANSFORMERS)[-1].kept == 1
    assert distributions(scene, shaping, LLAMA_CPP)[-1].kept == 3
    assert distributions(scene, shaping, MLX_LM)[-1].kept == 3


def test_min_p_before_top_p_makes_top_p_count_what_is_left() -> None:
    scene = probabilities(0.4, 0.3, 0.2, 0.1)
    shaping = Shaping(top_p=0.75, min_p=0.6)
    names = [stage.name for stage in distributions(scene, shaping, VLLM)]
    assert names == ["raw", "min_p", "top_p"]
    assert distributions(scene, shaping, VLLM)[-1].kept == 2
    assert distributions(scene, shaping, TRANSFORMERS)[2].kept == 2
    assert distributions(scene, shaping, VLLM)[2].removed_mass == 0


def test_an_act_that_a_library_lacks_is_left_out_and_named() -> None:
    shaping = Shaping(typical_p=0.5, eta_cutoff=0.1, top_k=2)
    assert skipped_processors(shaping, VLLM) == ("typical_p", "eta_cutoff")
    assert skipped_processors(shaping, LLAMA_CPP) == ("eta_cutoff",)
    assert skipped_processors(shaping, TRANSFORMERS) == ()
    names = [stage.name for stage in distributions(probabilities(0.5, 0.3, 0.2), shaping, VLLM)]
    assert names == ["raw", "top_k"]


def test_what_runs_have_beyond_transformers_acts_in_its_order_and_is_named_there() -> None:
    scene, shaping = probabilities(0.5, 0.3, 0.2), Shaping(xtc_probability=1, top_n_sigma=0.5)
    knobs = {name: spec for name, spec in SPECS.items() if spec.slider}
    first = {name: spec for name, spec in knobs.items() if not SPECS[spec.part_of or name].generate}
    beyond = [name for name, spec in first.items() if spec.generate is None]
    assert not any(map(TRANSFORMERS.lacks, beyond))
    for name in ("xtc_probability", "top_n_sigma"):
        assert name in beyond and SPECS[name].label in TRANSFORMERS.note
        assert name in [stage.name for stage in distributions(scene, shaping, TRANSFORMERS)]
    assert VLLM.lacks("xtc_threshold") and not LLAMA_CPP.lacks("xtc_threshold")


@pytest.mark.parametrize("order", ORDERS.values(), ids=lambda order: order.key)
def test_temperature_0_is_the_argmax_after_the_penalties_in_every_order(order) -> None:
    scene = probabilities(0.2, 0.5, 0.3)
    stages = distributions(scene, Shaping(temperature=0, top_k=1), order)
    assert [stage.name for stage in stages] == ["raw", "argmax"]
    assert stages[-1].token_id(0) == 1 and stages[-1].probs.tolist() == [1.0]
