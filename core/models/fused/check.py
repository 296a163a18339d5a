"""Choice of the models that have a fused step: those whose logits it gave."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel

from ..running.cache import GrowingCache
from ..running.window import rope_parameters
from .body import ACTIVATIONS, activation_of
from .families import FAMILIES
from .step import FusedStep

# Position embeddings that depend on the position alone, not on how long the sequence is.
_ROPE_TYPES = {"default", "linear", "llama3"}
_KINDS = {"full_attention", "sliding_attention"}
_TOLERANCE = 1e-4


def fused_step(model: PreTrainedModel, layer_types: list[str]) -> FusedStep | None:
    """The fused step of a model, None where it has none or where its logits would differ.

    Changes the strides of the model's weights, not their values.
    """
    config = model.config
    fits = (
        type(model).__name__ in FAMILIES
        and model.dtype is torch.float32
        and bool(layer_types)
        and _KINDS.issuperset(layer_types)
        and activation_of(config) in ACTIVATIONS
        and _ROPE_TYPES.issuperset(rope["rope_type"] for rope in rope_parameters(config))
        and not getattr(config, "use_bidirectional_attention", None)
    )
    if not fits:
        return None
    try:
        step = FusedStep(model, layer_types)
        return step if _equals_transformers(step, model, layer_types) else None
    except (AttributeError, RuntimeError, StopIteration):  # Not what its class is known for.
        return None


@torch.inference_mode()
def _equals_transformers(step: FusedStep, model: PreTrainedModel, layer_types: list[str]) -> bool:
    ids = torch.arange(8, device=model.device).view(2, 4) % model.config.vocab_size
    whole = model(input_ids=ids, use_cache=False).logits
    expected = whole[:, -1]
    scale = max(1.0, float(expected.abs().max()))
    # One row and several rows take different ways through the matrix products.
    for rows in (1, 2):
        cache = GrowingCache(layer_types)
        model(input_ids=ids[:rows, :2], past_key_values=cache, use_cache=True)
        for at in (2, 3):
            logits = step(ids[:rows, at : at + 1], cache)[:, 0]
        cache.truncate(2)
        together = step(ids[:rows, 2:], cache)[:, -1]
        deviation = torch.stack([logits, together]) - expected[:rows]
        prompt = step(ids[:rows], GrowingCache(layer_types)) - whole[:rows]
        if not max(deviation.abs().max(), prompt.abs().max()) <= _TOLERANCE * scale:
            return False
    return True
