"""Watermarks' stages equal transformers' processors bit by bit, step after step."""

from __future__ import annotations

import math

import pytest
import torch
from transformers.generation import logits_process as hf

from core import Shaping
from core.decoding.shaping.step import StepShaper
from tests.depth import slow

SIZES = (37, 300, 4096, 20_000)
GREEN = {
    "lefthash": {"watermark_bias": 2.0},
    "other key": {"watermark_bias": 0.7, "watermark_key": 2**53 - 1, "watermark_ratio": 0.5},
    "selfhash": {"watermark_bias": 2.5, "watermark_scheme": "selfhash", "watermark_context": 2},
    "wide": {"watermark_bias": 3.0, "watermark_scheme": "selfhash", "watermark_context": 4},
}
SYNTHID = {
    "thirty layers": {"synthid_depth": 30},
    "nine keys": {
        "synthid_depth": 30,
        "synthid_keys": (654, 400, 836, 123, 340, 443, 597, 160, 57),
    },
    "short contexts": {"synthid_depth": 3, "synthid_ngram": 2},
    "short history": {"synthid_depth": 8, "synthid_ngram": 3, "synthid_history": 2},
}


def _rows(size: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(size)
    rows = [scale * torch.randn(size, generator=generator) for scale in (0.5, 2, 8)]
    cut = rows[1].clone()
    cut[torch.rand(size, generator=generator) < 0.9] = -math.inf
    return [*rows, cut, rows[1].round()]


def _texts(size: int) -> list[int]:
    # Few different tokens, so that contexts come again.
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, min(size, 4), (24,), generator=generator).tolist()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("settings", GREEN.values(), ids=GREEN)
def test_the_green_list_equals_transformers(settings, size: int) -> None:
    if settings.get("watermark_scheme") == "selfhash" and size < 40:
        return  # transformers looks at 40 tokens.
    shaping, prompt = Shaping(**settings), [size - 1, 3, 1]
    reference = hf.WatermarkLogitsProcessor(
        size,
        "cpu",
        greenlist_ratio=shaping.watermark_ratio,
        bias=shaping.watermark_bias,
        hashing_key=shaping.watermark_key,
        seeding_scheme=shaping.watermark_scheme,
        context_width=shaping.watermark_context,
    )
    shaper, text = StepShaper(shaping), _texts(size)[:6]
    for length in range(len(text)):
        ids = [*prompt, *text[:length]]
        for row in _rows(size):
            expected = reference(torch.tensor([ids]), row[None].clone())[0]
            assert torch.equal(shaper.rows(row[None], [ids], [length])[0], expected)
            last = shaper.distributions(row, ids, length)[-1]
            assert torch.equal(last.logits, expected)


@pytest.mark.parametrize("size", [SIZES[0], *map(slow, SIZES[1:])])
@pytest.mark.parametrize("settings", SYNTHID.values(), ids=SYNTHID)
def test_synthid_equals_transformers_but_for_removed_tokens(settings, size: int) -> None:
    shaping, prompt, text = Shaping(**settings), [size - 1, 3, 1], _texts(size)
    for row in _rows(size):
        reference = hf.SynthIDTextWatermarkLogitsProcessor(
            shaping.synthid_ngram,
            list(shaping.synthid_keys[: shaping.synthid_depth]),
            2**16,
            0,
            shaping.synthid_history,
            torch.device("cpu"),
        )
        shaper, unmarked = StepShaper(shaping), 0
        for length in range(len(text)):
            ids = [*prompt, *text[:length]]
            expected = reference(torch.tensor([ids]), row[None].clone())[0]
            expected[row == -math.inf] = -math.inf
            assert torch.equal(shaper.rows(row[None], [ids], [length])[0], expected)
            unmarked += torch.equal(expected, row)
        assert 0 < unmarked < len(text)


def test_a_step_with_fewer_tokens_than_the_hash_reads_is_not_marked() -> None:
    shaper = StepShaper(Shaping(watermark_bias=2.0, watermark_context=3))
    assert shaper.names_at(2, 1) == []
    assert shaper.names_at(3, 1) == ["watermark_bias"]
