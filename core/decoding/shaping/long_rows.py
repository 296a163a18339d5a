"""What torch takes long for over a large vocabulary, found by blocks: the same values, sooner.

A block's maximum is vectorised; `topk`, `argmax` and `nonzero` are not.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_BLOCK = 64
_LONG = 16_384


def highest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` highest of `[vocab]` and their places, as `topk` gives them; ties in any order.

    They stand in the `count` blocks with the highest maxima.
    """
    if len(logits) < max(_LONG, 4 * _BLOCK * count):
        return torch.topk(logits, count)
    blocks, rest = _blocks(logits)
    first = torch.topk(blocks.amax(dim=-1), count).indices * _BLOCK
    places = torch.cat(((first[:, None] + torch.arange(_BLOCK)).flatten(), rest))
    values, at = torch.topk(logits[places], count)
    return values, places[at]


def first_maximum(logits: Tensor) -> int:
    """The place of the highest of `[vocab]`, the first of equal ones."""
    if len(logits) < _LONG:
        return int(torch.argmax(logits))
    start = int(torch.argmax(_blocks(logits)[0].amax(dim=-1))) * _BLOCK
    block = logits[start : start + _BLOCK]
    at, rest = int(torch.argmax(block)), logits[len(logits) // _BLOCK * _BLOCK :]
    if len(rest) and bool(rest.amax() > block[at]):
        return int(torch.argmax(rest)) + len(logits) - len(rest)
    return start + at


def places_left(logits: Tensor) -> Tensor:
    """The places of `[vocab]` logits that are above -inf, ascending."""
    if len(logits) < _LONG:
        return torch.nonzero(logits > -math.inf).squeeze(-1)
    blocks, rest = _blocks(logits)
    used = torch.nonzero(blocks.amax(dim=-1) > -math.inf)
    places = torch.cat(((used * _BLOCK + torch.arange(_BLOCK)).flatten(), rest))
    return places[logits[places] > -math.inf]


def _blocks(logits: Tensor) -> tuple[Tensor, Tensor]:
    """`[n, 64]` of what fills blocks, and the places of what is left."""
    size = len(logits)
    whole = size // _BLOCK * _BLOCK
    return logits[:whole].reshape(-1, _BLOCK), torch.arange(whole, size)
