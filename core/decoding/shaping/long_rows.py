"""Fast searches of a long row by blocks, with the same results as torch.

A block's maximum is vectorised; `topk`, `argmax` and `nonzero` are not: over 152,000 logits 0.05 ms
instead of 0.70, 0.34 and 0.65 ms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

_BLOCK = 64
LONG = 16_384


def highest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the `count` highest values of `[vocab]` and their indices, like `topk`; ties in any
    order.

    They lie in the `count` blocks with the highest maxima.
    """
    if len(logits) < max(LONG, 4 * _BLOCK * count):
        return torch.topk(logits, count)
    blocks, remainder = _blocks(logits)
    first = torch.topk(blocks.amax(dim=-1), count).indices
    held = blocks.index_select(0, first).view(-1)
    if len(remainder):
        held = torch.cat((held, logits[-len(remainder) :]))
    values, at = torch.topk(held, count)
    # The rest after the blocks is one more, shorter block.
    starts = [*first.tolist(), len(blocks)]
    places = [starts[place // _BLOCK] * _BLOCK + place % _BLOCK for place in at.tolist()]
    return values, torch.tensor(places)


class Ranking(NamedTuple):
    """The highest logits of a row by rank, with their indices as a list and as a tensor."""

    ids: list[int]
    logits: list[float]
    places: Tensor


def ranked(logits: Tensor, count: int, top: tuple[list[float], Tensor] | None = None) -> Ranking:
    """Rank the `count` highest of `[vocab]` logits, ties by index, without removed tokens.

    Args:
        top: result of `highest` for `count + 1`, if known already.
    """
    if top is None:
        first_values, places = highest(logits, min(count + 1, len(logits)))
        values: list[float] = first_values.tolist()
    else:
        values, places = top
    size = min(count, len(logits))
    if size < len(values) and values[size - 1] == values[size]:
        # Ties continue beyond the end, and any of the tied tokens may rank first.
        places = torch.nonzero(logits >= values[size - 1]).squeeze(-1)
        values = logits.take(places).tolist()
    elif len(set(values)) == len(values) and values[-1] > -math.inf:
        first = places[:size]
        return Ranking(first.tolist(), values[:size], first)
    pairs = sorted((-value, at) for value, at in zip(values, places.tolist(), strict=True))
    ids = [at for negated, at in pairs[:size] if negated < math.inf]
    return Ranking(ids, [-negated for negated, _ in pairs[: len(ids)]], torch.tensor(ids))


def ranked_rows(rows: Tensor, count: int) -> list[Ranking]:
    """Return `ranked` for each row of `[n, vocab]`."""
    size = rows.shape[-1]
    if size >= LONG:
        return [ranked(row, count) for row in rows]
    top, places = torch.topk(rows, min(count + 1, size))
    return [
        ranked(row, count, (values, first))
        for row, values, first in zip(rows, top.tolist(), places, strict=True)
    ]


def first_maximum(logits: Tensor) -> int:
    """Return the index of the highest of `[vocab]` logits; of equal ones, the first."""
    if len(logits) < LONG:
        return int(torch.argmax(logits))
    start = int(torch.argmax(_blocks(logits)[0].amax(dim=-1))) * _BLOCK
    block = logits[start : start + _BLOCK]
    at, remainder = int(torch.argmax(block)), logits[len(logits) // _BLOCK * _BLOCK :]
    if len(remainder) and bool(remainder.amax() > block[at]):
        return int(torch.argmax(remainder)) + len(logits) - len(remainder)
    return start + at


def places_left(logits: Tensor) -> Tensor:
    """Return the indices of `[vocab]` logits above -inf, ascending."""
    if len(logits) < LONG:
        return torch.nonzero(logits > -math.inf).squeeze(-1)
    blocks, remainder = _blocks(logits)
    used = torch.nonzero(blocks.amax(dim=-1) > -math.inf)
    places = torch.cat(((used * _BLOCK + torch.arange(_BLOCK)).flatten(), remainder))
    return places[logits.take(places) > -math.inf]


def count_above(rows: Tensor, floor: Tensor | float) -> Tensor:
    """Return the number of greater values in each of `[..., vocab]`, as float32.

    float32 sums below 2^24 are exact. Comparisons with a bool result are not vectorised.
    """
    return torch.gt(rows, floor, out=torch.empty_like(rows)).sum(dim=-1)


def count_equal(rows: Tensor, value: Tensor | float) -> Tensor:
    """Return the number of equal values in each of `[..., vocab]`, as `count_above` does."""
    return torch.eq(rows, value, out=torch.empty_like(rows)).sum(dim=-1)


def cut_below(logits: Tensor, floor: float) -> Tensor:
    """Return `[vocab]` logits with -inf for values below the floor; `masked_fill` takes eight times
    as long.

    `threshold` keeps greater values only, so it gets the number just below the floor.
    """
    before = torch.nextafter(logits.new_tensor(floor), logits.new_tensor(-math.inf))
    return F.threshold(logits, float(before), -math.inf)


def _blocks(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return `[n, 64]` logits that fill blocks, and the indices of the rest."""
    size = len(logits)
    whole = size // _BLOCK * _BLOCK
    return logits[:whole].reshape(-1, _BLOCK), torch.arange(whole, size)
