"""A model that was loaded with transformers, as a `TransformersModel`."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from core.decoding.errors import ModelError
from core.models.loading.errors import explaining
from core.models.transformers_model import TransformersModel


def from_transformers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, model_id: str = ""
) -> TransformersModel:
    """Wrap a model that transformers loaded, for `collect`, `decode` and `check`.

    The model itself is put into evaluation mode, and into float32 on a CPU, as `load_model` does;
    its weights keep their layout, so that it can still be trained and saved. Gradients are off
    during a run only. Its own forward runs each step: those of `load_model` may be faster.

    Args:
        model: a decoder-only causal language model, on its device.
        tokenizer: its tokenizer.
        model_id: what a trace names the model by; the name it was loaded by when left out.

    Raises:
        ModelError: an argument has another type, the model is no decoder, or its first step fails.
    """
    for part, argument, kind in (
        ("model", model, PreTrainedModel),
        ("tokenizer", tokenizer, PreTrainedTokenizerBase),
    ):
        if not isinstance(argument, kind):
            raise ModelError(
                "from_transformers takes a model and its tokenizer, both of transformers; got the "
                f"type {type(argument).__name__} for the {part}."
            )
    name = model_id or model.name_or_path or type(model).__name__
    with explaining(name, "first step"):
        if model.device.type == "cpu" and model.dtype is not torch.float32:
            model.float()
        # Fused steps hold copies of weights, which go stale where the model is trained further.
        loaded = TransformersModel(
            model,
            tokenizer,
            model_id=name,
            lay_out_weights=False,
            fuse_single_tokens=False,
        )
        broken = bool(loaded.start([0]).logits.isnan().any())
    if broken:
        raise ModelError(f"The weights of {name} give logits that are no numbers; load it again.")
    return loaded
