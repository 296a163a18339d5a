"""Weights laid out for single tokens hold the same numbers."""

from __future__ import annotations

import copy

import pytest
import torch

from core.models.running.layout import lay_out_for_single_tokens
from tests.models.builders import random_language_model, random_model

LARGE = {"hidden_size": 128, "intermediate_size": 512}


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma"])
@pytest.mark.parametrize("tied", [True, False])
def test_logits_stay_within_rounding(kind: str, tied: bool) -> None:
    model = random_model(kind, 600, tie_word_embeddings=tied, **LARGE)
    ids = torch.arange(1, 30)[None]
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        assert lay_out_for_single_tokens(model) > 0
        assert lay_out_for_single_tokens(model) == 0
        after = model(input_ids=ids).logits
    scale = before.abs().max().item()
    torch.testing.assert_close(after, before, rtol=0, atol=1e-5 * scale)


def test_shapes_and_values_stay_and_strides_change() -> None:
    model = random_model("llama", 600, **LARGE)
    before = copy.deepcopy(model.state_dict())
    lay_out_for_single_tokens(model)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name]), name
    assert model.lm_head.weight.stride() == (1, 600)


def test_a_tied_embedding_stays_tied_and_is_laid_out_once() -> None:
    model = random_model("llama", 600, tie_word_embeddings=True, **LARGE)
    rows = model.get_input_embeddings()(torch.tensor([3, 599])).clone()
    large = sum(
        1
        for name, weight in model.named_parameters()
        if weight.ndim == 2 and weight.numel() >= 50_000
    )
    assert lay_out_for_single_tokens(model) == large
    assert model.lm_head.weight is model.get_input_embeddings().weight
    assert torch.equal(model.get_input_embeddings()(torch.tensor([3, 599])), rows)


def test_small_weights_and_other_dtypes_are_left_alone() -> None:
    assert lay_out_for_single_tokens(random_model("llama", 300)) == 0
    assert lay_out_for_single_tokens(random_model("llama", 600, **LARGE).bfloat16()) == 0


def test_the_adapter_lays_out_only_when_it_may() -> None:
    unchanged = random_language_model("llama", 600, lay_out_weights=False, **LARGE)
    assert unchanged.hf_model.lm_head.weight.is_contiguous()
    assert not random_language_model("llama", 600, **LARGE).hf_model.lm_head.weight.is_contiguous()
