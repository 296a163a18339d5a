"""Dynamic temperature against llama.cpp's own, quadratic smoothing against its formula."""

from __future__ import annotations

import math

import pytest
import torch

from core import Sampling, Shaping, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.lab.step import distributions, skipped_processors
from core.decoding.shaping.functions.temperatures import dynatemp_high, smoothing_factor
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, VLLM
from tests.decoding.lab.scenes import random_scene
from tests.decoding.shaping.samplers.llama_cpp import Sampler, needs_llama_cpp

ROWS = [
    [2.0, 1.0, 0.0, -1.0],
    [3.0, 3.0, 3.0, 3.0],
    [1.0, -math.inf, 4.0, -math.inf, 2.0],
    [-math.inf, -7.0, -math.inf],
    [40.0, 0.0, -40.0],
    (2 * torch.randn(500, generator=torch.Generator().manual_seed(3))).tolist(),
]


@needs_llama_cpp
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("low", "high"), [(0.5, 1.5), (0.25, 1.75), (1.0, 3.0)])
def test_a_dynamic_temperature_equals_llama_cpp_s(
    low: float, high: float, exponent: float, row: list[float]
) -> None:
    middle, span = (low + high) / 2, (high - low) / 2
    theirs = Sampler("temp_ext", "fff", middle, span, exponent).apply(row)
    ours = dynatemp_high(torch.tensor(row), (high, low, exponent))
    probs = ours.softmax(-1).tolist()
    assert {token for token, p in enumerate(ours.tolist()) if p > -math.inf} == {*theirs.logits}
    for token, logit in theirs.logits.items():
        assert ours[token].item() == pytest.approx(logit, rel=1e-5, abs=1e-5)
        # llama.cpp leaves a single token as it is, without a probability.
        expected = theirs.probs[token] if len(theirs.logits) > 1 else 1.0
        assert probs[token] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def by_hand(row: list[float], factor: float, curve: float) -> list[float]:
    """text-generation-webui's `QuadraticSamplingLogitsWarper`."""
    highest, k, s = max(row), (3 - curve) / 2, (curve - 1) / 2
    return [
        -(k * factor * (x - highest) ** 2) + s * factor * (x - highest) ** 3 + highest
        if x > -math.inf
        else x
        for x in row
    ]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("value", [(0.05, 1.0), (0.3, 1.0), (0.3, 2.5), (1.5, 3.0)])
def test_quadratic_smoothing_equals_its_formula(
    value: tuple[float, float], row: list[float]
) -> None:
    smoothed = smoothing_factor(torch.tensor(row), value)
    torch.testing.assert_close(smoothed, torch.tensor(by_hand(row, *value)))
    order = torch.tensor(row).argsort(descending=True, stable=True)
    assert torch.equal(smoothed.argsort(descending=True, stable=True), order)


def test_rows_of_a_batch_are_tempered_each_for_itself() -> None:
    rows = torch.tensor([[0.1], [1.0], [9.0]]) * torch.randn(
        3, 60, generator=torch.Generator().manual_seed(5)
    )
    rows[1, 20:] = -math.inf
    for act, value in ((dynatemp_high, (1.5, 0.5, 1.0)), (smoothing_factor, (0.2, 1.5))):
        together = act(rows, value)
        for row, one in zip(rows, together, strict=True):
            torch.testing.assert_close(one, act(row, value), rtol=1e-6, atol=0)


def test_a_sure_step_has_the_lowest_temperature_and_an_open_one_the_highest() -> None:
    sure, open_ = torch.tensor([60.0, 0.0]), torch.tensor([1.0, 1.0])
    assert dynatemp_high(sure, (2.0, 0.5, 1.0)).tolist() == pytest.approx([120.0, 0.0])
    assert dynatemp_high(open_, (2.0, 0.5, 1.0)).tolist() == pytest.approx([0.5, 0.5])


def test_llama_cpp_alone_has_a_dynamic_temperature_and_puts_it_last() -> None:
    shaping = Shaping(dynatemp_high=1.5, top_k=9, smoothing_factor=0.2)
    names = [stage.name for stage in distributions(random_scene(400, 1), shaping, LLAMA_CPP)]
    assert names == ["raw", "top_k", "dynatemp_high"]
    for order in (VLLM, MLX_LM):
        assert skipped_processors(shaping, order) == ("dynatemp_high", "smoothing_factor")


@pytest.mark.parametrize(
    "shaping",
    [
        Shaping(dynatemp_high=1.6, dynatemp_low=0.3),
        Shaping(smoothing_factor=0.4, smoothing_curve=2.0, min_p=0.01),
    ],
)
def test_a_run_with_it_is_proved_by_the_model(shaping: Shaping) -> None:
    model = load_model("embedded:target")
    trace = collect(model, "Once upon a time", Sampling(max_new_tokens=12, seed=3, shaping=shaping))
    assert verdict(check(trace, model)) == "proved"
