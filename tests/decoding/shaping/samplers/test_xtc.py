"""XTC against llama.cpp's formula, written out in plain Python; transformers has none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from core import Shaping
from core.decoding.lab.step import distributions, skipped_processors
from core.decoding.shaping.functions.filters import xtc_probability
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, TRANSFORMERS, VLLM
from core.decoding.shaping.stage import NamedNoise, StepContext, named_uniform
from tests.decoding.lab.scenes import random_scene

NAME = "xtc_probability"
ROWS = [
    [2.0, 1.0, 0.0, -1.0, -2.0],
    [3.0, 3.0, 3.0, 3.0],  # a tie: one of the four survives
    [5.0, -math.inf, 4.0, -math.inf, 4.0],
    [-math.inf, -7.0, -math.inf],
    [math.log(share) for share in (0.5, 0.25, 0.125, 0.125)],  # probabilities at the threshold
    (2 * torch.randn(500, generator=torch.Generator().manual_seed(3))).tolist(),
    (0.2 * torch.randn(20_000, generator=torch.Generator().manual_seed(3))).tolist(),
]
THRESHOLDS = [1e-4, 0.01, 0.1, 0.125, 0.25, 0.3, 0.5, 1.0]


def by_hand(logits: Sequence[float], threshold: float, least: int = 1) -> list[float]:
    """`llama_sampler_xtc_apply` after its die."""
    probs = torch.tensor(logits).softmax(dim=-1).tolist()
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    alive = [token for token in order if logits[token] > -math.inf]
    last = max((at for at, token in enumerate(alive) if probs[token] >= threshold), default=0)
    removed = alive[:last] if len(alive) - last >= least else []
    return [-math.inf if token in removed else logit for token, logit in enumerate(logits)]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("row", range(len(ROWS)))
def test_it_removes_what_the_formula_removes(row: int, threshold: float) -> None:
    for least in (1, 2, 4):
        context = StepContext(min_tokens_to_keep=least)
        logits = torch.tensor(ROWS[row])
        result = xtc_probability(logits, (1.0, threshold), context).tolist()
        assert result == by_hand(logits.tolist(), threshold, least)


def test_it_acts_at_the_steps_whose_number_is_below_the_probability() -> None:
    logits = torch.tensor(ROWS[0])
    acts = list[bool]()
    for index in range(400):
        noise = NamedNoise(5, index)
        shaped = xtc_probability(logits, (0.3, 0.1), StepContext(uniform=noise))
        acts.append(not torch.equal(shaped, logits))
        assert noise.drawn == {NAME: named_uniform(5, NAME, index)}
        assert acts[-1] == (noise.drawn[NAME] < 0.3)
    assert 90 <= sum(acts) <= 150


def test_mlx_lm_and_llama_cpp_have_it_at_their_own_places() -> None:
    shaping = Shaping(temperature=0.8, top_k=9, min_p=0.01, xtc_probability=1.0, xtc_threshold=0.05)
    names = {
        TRANSFORMERS: ["temperature", "top_k", "min_p", NAME],
        LLAMA_CPP: ["top_k", "min_p", NAME, "temperature"],
        MLX_LM: ["min_p", NAME, "top_k", "temperature"],
    }
    for order, expected in names.items():
        stages = distributions(random_scene(400, 1), shaping, order)
        assert [stage.name for stage in stages] == ["raw", *expected]
    assert skipped_processors(shaping, VLLM) == (NAME,)
