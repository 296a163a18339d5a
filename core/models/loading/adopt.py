"""Wrap a model that transformers loaded as a `TransformersModel`."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...decoding.errors import ModelError
from ...language import Message
from ..running.masked import wrapped
from ..transformers_model import TransformersModel
from .errors import explaining


def from_transformers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, model_id: str = ""
) -> TransformersModel:
    """Wrap a model that transformers loaded, for `collect`, `decode` and `check`.

    The model itself is put into evaluation mode, and into float32 on a CPU, as `load_model` does;
    its weights keep their layout, so that it can still be trained and saved. Gradients are off
    only during a run. Steps use the model's own forward, which may be slower than `load_model`'s.

    Args:
        model: a decoder-only causal language model, on its device.
        tokenizer: the model's tokenizer.
        model_id: the model's name in traces; by default, the name that it was loaded by.

    Raises:
        ModelError: an argument has another type, the model is no decoder, or its first step fails.

    Example:
        >>> original = load_model("embedded:target")
        >>> model = from_transformers(original.hf_model, original.tokenizer, model_id="mine")
        >>> collect(model, "Once upon a time", Greedy(max_new_tokens=3)).text
        ', there was'
    """
    for part, argument, kind in (
        ("model", model, PreTrainedModel),
        ("tokenizer", tokenizer, PreTrainedTokenizerBase),
    ):
        if not isinstance(argument, kind):
            raise ModelError(
                Message(
                    "from_transformers takes a model and its tokenizer, both of "
                    "transformers; got the type {name} for the {part}.",
                    name=type(argument).__name__,
                    part=part,
                )
            )
    name = model_id or model.name_or_path or type(model).__name__
    with explaining(name, "first step"):
        if model.device.type == "cpu" and model.dtype is not torch.float32:
            model.float()
        # Fused steps copy the weights; further training would make the copies stale.
        loaded = wrapped(
            model,
            tokenizer,
            model_id=name,
            lay_out_weights=False,
            fuse_single_tokens=False,
        )
        broken = bool(loaded.trial_logits().isnan().any())
    if broken:
        raise ModelError(
            Message(
                "The weights of {name} give logits that are no numbers; load it again.", name=name
            )
        )
    return loaded
