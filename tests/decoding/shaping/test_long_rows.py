"""Operations by blocks on a long row give torch's results for the whole row."""

from __future__ import annotations

import math

import pytest
import torch

from core.decoding.shaping.long_rows import (
    count_above,
    count_equal,
    cut_below,
    first_maximum,
    highest,
    places_left,
    ranked,
)

SIZES = [300, 16_384, 49_152, 50_257]


def _rows(size: int) -> list[torch.Tensor]:
    """Uneven, full of ties, mostly ruled out, and highest at its very end."""
    noise = torch.Generator().manual_seed(size)
    uneven = 3 * torch.randn(size, generator=noise)
    coarse = uneven.round()
    sparse = uneven.masked_fill(uneven < 6, -math.inf)
    rising = torch.arange(size, dtype=torch.float32)
    return [uneven, coarse, sparse, rising, -rising, torch.zeros(size)]


@pytest.mark.parametrize("size", SIZES)
def test_what_is_found_by_blocks_is_what_torch_finds(size: int) -> None:
    for row in _rows(size):
        for count in (1, 21, 50, 256):
            values, places = highest(row, count)
            assert torch.equal(values, torch.topk(row, count).values)
            assert torch.equal(row[places], values)
            assert len(set(places.tolist())) == count
        order = torch.sort(row, descending=True, stable=True)
        assert first_maximum(row) == int(torch.argmax(row))
        assert torch.equal(places_left(row), torch.nonzero(row > -math.inf).squeeze(-1))
        by_rank = [token for token in order.indices[:20].tolist() if row[token] > -math.inf]
        assert ranked(row, 20).ids == by_rank
        for floor in (float(row[7]), float(row[-1]), 0.0, -0.0, -math.inf, 1e-45):
            assert int(count_above(row, floor)) == int((row > floor).sum())
            assert int(count_equal(row, floor)) == int((row == floor).sum())
            assert torch.equal(cut_below(row, floor), row.masked_fill(row < floor, -math.inf))
