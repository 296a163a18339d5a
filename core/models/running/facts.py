"""Properties of a transformers model: ends, vocabulary size, layers that a cache can hold."""

from __future__ import annotations

import inspect

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .cache import attention_layer_types


def named_eos_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Return the ids that the model's configs and the tokenizer name as ends."""
    named = (
        getattr(model.generation_config, "eos_token_id", None),
        getattr(model.config.get_text_config(decoder=True), "eos_token_id", None),
        tokenizer.eos_token_id,
    )
    ids: set[int] = set()
    for value in named:
        ids.update([value] if isinstance(value, int) else value or [])
    return ids


def vocab_size_of(model: PreTrainedModel) -> int:
    """Return the length of a row of logits."""
    weight = getattr(model.get_output_embeddings(), "weight", None)
    if isinstance(weight, torch.Tensor) and weight.ndim == 2:
        return int(weight.shape[0])
    return int(model.config.get_text_config(decoder=True).vocab_size)


def cacheable_layers(model: PreTrainedModel) -> list[str] | None:
    """Return the kinds of the layers; None if no cache of theirs can be rolled back."""
    takes_cache = "past_key_values" in inspect.signature(model.forward).parameters
    if model._is_stateful or not takes_cache or not model._supports_default_dynamic_cache():
        return None
    return attention_layer_types(model.config)
