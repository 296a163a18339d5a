"""What is found by blocks in a long row is what torch finds in all of it."""

from __future__ import annotations

import math

import pytest
import torch

from core.decoding.loop.recording import ranked_ids
from core.decoding.shaping.long_rows import (
    ascending,
    count_above,
    count_equal,
    cut_below,
    first_maximum,
    highest,
    places_left,
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
def test_the_highest_values_are_topks_and_stand_where_they_are_said_to(size: int) -> None:
    for row in _rows(size):
        for count in (1, 21, 50, 256):
            values, places = highest(row, count)
            assert torch.equal(values, torch.topk(row, count).values)
            assert torch.equal(row[places], values)
            assert len(set(places.tolist())) == count


@pytest.mark.parametrize("size", SIZES)
def test_rising_values_are_those_of_a_sort(size: int) -> None:
    for row in _rows(size):
        assert torch.equal(ascending(row), torch.sort(row).values)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_maximum_is_argmaxs(size: int) -> None:
    for row in _rows(size):
        assert first_maximum(row) == int(torch.argmax(row))


@pytest.mark.parametrize("size", SIZES)
def test_the_places_left_are_those_above_minus_infinity(size: int) -> None:
    for row in _rows(size):
        assert torch.equal(places_left(row), torch.nonzero(row > -math.inf).squeeze(-1))


@pytest.mark.parametrize("size", SIZES)
def test_ranks_are_those_of_a_stable_sort(size: int) -> None:
    for row in _rows(size):
        order = torch.sort(row, descending=True, stable=True).indices[:20].tolist()
        assert ranked_ids(row, 20) == [token for token in order if row[token] > -math.inf]


@pytest.mark.parametrize("size", SIZES)
def test_counts_and_cuts_are_those_of_comparisons(size: int) -> None:
    for row in _rows(size):
        for floor in (float(row[7]), float(row[-1]), 0.0, -0.0, -math.inf, 1e-45):
            assert int(count_above(row, floor)) == int((row > floor).sum())
            assert int(count_equal(row, floor)) == int((row == floor).sum())
            assert torch.equal(cut_below(row, floor), row.masked_fill(row < floor, -math.inf))
