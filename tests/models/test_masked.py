"""A bidirectional model fills masks; every reading that needs a next token refuses it."""

from __future__ import annotations

import math

import pytest
import torch

from core import Greedy, collect, from_transformers, load_model
from core.decoding.errors import ModelError
from core.models.inside import require_modules
from core.models.places import list_diffusion, list_embedded
from core.models.running.masked import MaskedModel
from tests.models.builders import random_model, tiny_tokenizer


@pytest.fixture(scope="module")
def model() -> MaskedModel:
    loaded = load_model("embedded:diffusion")
    assert isinstance(loaded, MaskedModel)
    return loaded


def test_one_masked_position_has_the_distribution_of_the_models_own_forward(model) -> None:
    ids = model.encode("Once upon a time there was a dog.")
    for place in range(len(ids)):
        canvas = [*ids[:place], model.mask_id, *ids[place + 1 :]]
        with torch.no_grad():
            logits = model.hf_model(input_ids=torch.tensor([canvas])).logits[0, place]
            logits[model.mask_id] = -math.inf
        assert torch.equal(model.fill(canvas)[place], logits)


def test_a_later_token_changes_the_prediction_before_it(model) -> None:
    first, second = ([model.mask_id, *model.encode(text)] for text in (" cats", " is"))
    assert not torch.allclose(model.fill(first)[0], model.fill(second)[0])


def test_whatever_needs_a_next_token_says_that_there_is_none(model) -> None:
    for use in (lambda: collect(model, "a", Greedy()), lambda: require_modules(model)):
        with pytest.raises(ModelError, match=r"^embedded:diffusion is a diffusion model: .*\.$"):
            use()
    assert list_diffusion() == ["diffusion"]
    assert "diffusion" not in list_embedded()


def test_a_copy_in_another_number_type_fills_masks_too(model) -> None:
    copy = model.in_dtype("bfloat16")
    assert copy.mask_id == model.mask_id
    assert copy.fill([model.mask_id]).shape == (1, model.vocab_size)


def test_a_bidirectional_model_without_a_mask_token_is_refused() -> None:
    bidirectional = random_model("llama", is_causal=False)
    with pytest.raises(ModelError, match="names no mask token"):
        from_transformers(bidirectional, tiny_tokenizer(), model_id="x")
