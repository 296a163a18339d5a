"""Top-n-sigma against llama.cpp's formula, written out in plain Python; transformers has none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from core import Shaping
from core.decoding.lab.step import distributions, skipped_processors
from core.decoding.shaping.functions.filters import top_n_sigma
from core.decoding.shaping.orders import LLAMA_CPP, VLLM
from core.decoding.shaping.stage import StepContext
from tests.decoding.lab.scenes import random_scene

ROWS = [
    [2.0, 1.0, 0.0, -1.0, -2.0],
    [3.0, 3.0, 3.0, 3.0],
    [1.0, -1.0],  # sigma 1, so that -1 is the threshold of n = 2
    [0.0, -math.inf, 4.0, -math.inf, 2.0],
    [-math.inf, -7.0, -math.inf],
    [1e4, 0.0, -1e4, -math.inf],
    [2.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0],
    (2 * torch.randn(500, generator=torch.Generator().manual_seed(3))).tolist(),
]
VALUES = [0.0, 0.05, 0.5, 1.0, 1.7, 2.0, 3.0, 100.0]


def by_hand(logits: Sequence[float], n: float) -> list[float]:
    """`llama_sampler_top_n_sigma_apply`, in double precision."""
    alive = [logit for logit in logits if logit != -math.inf]
    mean = math.fsum(alive) / len(alive)
    sigma = math.sqrt(math.fsum((logit - mean) ** 2 for logit in alive) / len(alive))
    floor = max(alive) - n * sigma
    return [logit if logit >= floor else -math.inf for logit in logits]


@pytest.mark.parametrize("n", VALUES)
@pytest.mark.parametrize("row", range(len(ROWS)))
def test_it_keeps_what_the_formula_keeps(row: int, n: float) -> None:
    logits = torch.tensor(ROWS[row])
    assert top_n_sigma(logits, n).tolist() == by_hand(logits.tolist(), n)


def test_rows_of_a_batch_are_cut_each_for_itself() -> None:
    rows = torch.randn(4, 50, generator=torch.Generator().manual_seed(5))
    rows *= torch.tensor([[0.1], [1.0], [3.0], [9.0]])
    rows[1, 20:] = -math.inf
    expected = [by_hand(row, 1.0) for row in rows.tolist()]
    assert top_n_sigma(rows, 1.0).tolist() == expected


def test_as_many_tokens_as_a_beam_needs_stay() -> None:
    logits = torch.tensor([9.0, 1.0, 0.0, -1.0])
    assert top_n_sigma(logits, 0.1).tolist() == [9.0] + 3 * [-math.inf]
    assert top_n_sigma(logits, 0.1, StepContext(min_tokens_to_keep=3)).tolist() == [
        9.0,
        1.0,
        0.0,
        -math.inf,
    ]


def test_llama_cpp_cuts_after_the_penalties_and_before_top_k() -> None:
    shaping = Shaping(temperature=0.5, top_n_sigma=2.0, top_k=3, repetition_penalty=1.2)
    scene = random_scene(400, 1)
    stages = distributions(scene, shaping, LLAMA_CPP)
    names = ["raw", "repetition_penalty", "top_n_sigma", "top_k", "temperature"]
    assert [stage.name for stage in stages] == names
    expected = by_hand(stages[1].logits.tolist(), 2.0)
    assert stages[2].ids.tolist() == [at for at, logit in enumerate(expected) if logit > -math.inf]
    assert skipped_processors(shaping, VLLM) == ("top_n_sigma",)
