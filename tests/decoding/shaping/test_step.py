"""`StepShaper` gives several rows, as beams and speculation shape them, what each gets alone.

`test_orders` compares the distributions of one row with transformers' classes.
"""

from __future__ import annotations

import math
import random

import pytest
import torch
from torch import Tensor

from core import Shaping
from core.decoding.shaping.config import SETTINGS
from core.decoding.shaping.stages import Distribution
from core.decoding.shaping.step import StepShaper
from tests.decoding.shaping.shapings import random_settings
from tests.depth import cases


def _whole(stage: Distribution, size: int) -> Tensor:
    """A stage's logits over the whole vocabulary, -inf where a token is out."""
    if stage.ids is None:
        return stage.logits
    return torch.full((size,), -math.inf).scatter_(0, stage.ids, stage.logits)


@pytest.mark.parametrize("size", [60, 5000])
def test_several_rows_equal_each_row_alone(size: int) -> None:
    for seed in range(cases(120, 50)):
        dice = random.Random(seed)
        logits = torch.randn(3, size, generator=torch.Generator().manual_seed(seed)) * 4
        logits = logits.mul(2).round().div(2) if seed % 2 else logits  # many ties
        ids = [[dice.randrange(size // 4) for _ in range(12 + row)] for row in range(3)]
        shaper = StepShaper(
            Shaping(**random_settings(dice, SETTINGS)),
            draws=seed % 4 > 0,
            min_new_tokens=4,
            eos_ids=(0, 5),
            min_tokens_to_keep=dice.choice([1, 3]),
        )
        indexes = [seed % 6 + row * dice.choice([0, 1]) for row in range(3)]
        rows = shaper.rows(logits, ids, indexes)
        for row, row_logits, text, index in zip(rows, logits, ids, indexes, strict=True):
            assert torch.equal(row, shaper.rows(row_logits[None], [text], [index])[0]), seed
            stages = [
                s for s in shaper.distributions(row_logits, text, index) if s.name != "argmax"
            ]
            # Which of tied tokens min-p spares depends on the row's length, where it spares three.
            if shaper.min_tokens_to_keep == 1:
                assert torch.equal(row, _whole(stages[-1], size)), seed
