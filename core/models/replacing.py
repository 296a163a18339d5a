"""Attributes that have other values for a while, and copies of weights in another number type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from transformers import PreTrainedModel


@contextmanager
def replaced(target: Any, **values: Any) -> Iterator[None]:
    """Set attributes, and set them back when the block ends."""
    originals = {name: getattr(target, name) for name in values}
    for name, value in values.items():
        setattr(target, name, value)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(target, name, original)


def converted_copy(model: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """Return a copy whose stored tensors are converted one by one, as loading the files does.

    A copy of the whole that is converted afterwards needs the memory of three models meanwhile.
    """
    converted: dict[int, object] = {}
    for tensor in model.state_dict(keep_vars=True).values():
        if tensor.is_floating_point():
            other = tensor.detach().to(dtype, memory_format=torch.contiguous_format)
            is_weight = isinstance(tensor, torch.nn.Parameter)
            converted[id(tensor)] = (
                torch.nn.Parameter(other, tensor.requires_grad) if is_weight else other
            )
    return deepcopy(model, converted)
