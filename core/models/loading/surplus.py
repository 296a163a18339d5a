"""Tensors in a folder's weights that its model doesn't have."""

from __future__ import annotations

import re
from collections.abc import Set

from transformers import PreTrainedModel

from ...decoding.validation import shortened
from ...language import Message

_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_SHOWN = 160


def surplus_of_another_model(model: PreTrainedModel, surplus: Set[str]) -> set[str]:
    """Return the surplus tensors without which the model would compute another function.

    These are the weights of an extra layer, or a bias beside a weight of the model. transformers
    also leaves out the others (a mask or rotary frequencies that were stored, a value head, a layer
    that predicts several tokens).
    """
    names = set(model.state_dict())
    kinds = {_NUMBER.sub("", name) for name in names}
    prefix = f"{model.base_model_prefix}."

    def belongs(name: str) -> bool:
        weight = name.removesuffix("bias") + "weight"
        return _NUMBER.sub("", name) in kinds or (name.endswith(".bias") and weight in names)

    return {name for name in surplus if belongs(name) or belongs(prefix + name)}


def left_out(surplus: Set[str]) -> str:
    """Return a sentence that names the tensors, each once for all layers; empty if none."""
    if not surplus:
        return ""
    kinds = ", ".join(sorted({_NUMBER.sub("*", name) for name in surplus}))
    shown = shortened(kinds, _SHOWN)
    return Message(
        "Tensors of its files that are no part of the model are left out: {names}.", names=shown
    )
