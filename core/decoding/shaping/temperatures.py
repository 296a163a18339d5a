"""Temperatures: pure functions that rescale logits `[..., vocab]` and remove no token."""

from __future__ import annotations

from torch import Tensor

from core.decoding.shaping.stage import ALONE, StepContext


def temperature(logits: Tensor, value: float, _: StepContext = ALONE) -> Tensor:
    """Divide by the temperature, above 0."""
    return logits / value
