"""Steps with hand-made or random logits for the tests of the lab."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from core.decoding.lab.step import StepLogits
from core.models.scripted import ScriptedModel


def scene_of(logits: Tensor, previous_ids: Sequence[int] = (1,)) -> StepLogits:
    """A step with these logits, after these tokens."""
    tokens = ["<end>", *(f" t{at}" for at in range(1, len(logits)))]
    model = ScriptedModel(lambda _: logits, tokens=tokens, given="logits")
    return StepLogits(model, logits.float(), tuple(previous_ids))


def probabilities(*probs: float) -> StepLogits:
    """A step with these probabilities."""
    return scene_of(torch.tensor(probs).log())


def random_scene(size: int = 300, seed: int = 0, scale: float = 2.0) -> StepLogits:
    """A step with normally distributed logits, no two alike."""
    logits = scale * torch.randn(size, generator=torch.Generator().manual_seed(seed))
    return scene_of(logits, (3, 1, 4, 1, 5))
