"""Temperatures: pure functions that rescale logits `[..., vocab]` and remove no token."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...validation import MIN_TEMPERATURE
from ..stage import ALONE, StepContext


def temperature(logits: Tensor, value: float, _: StepContext = ALONE) -> Tensor:
    """Divide by the temperature, above 0."""
    return logits / value


def dynatemp_high(
    logits: Tensor, value: tuple[float, float, float], _: StepContext = ALONE
) -> Tensor:
    """Divide by low + (high - low) * (entropy / its maximum) ** exponent.

    As in llama.cpp's `llama_sampler_temp_ext_apply`, with low and high in place of its temperature
    minus and plus its range. The maximum is that of the tokens that are not removed; a single one
    is left alone.
    """
    high, low, exponent = value
    probs = torch.softmax(logits, dim=-1)
    most = (logits > -math.inf).sum(dim=-1, keepdim=True).log()
    entropy = torch.special.entr(probs).sum(dim=-1, keepdim=True)
    # Rounding may give a little more than the maximum.
    share = (entropy / most).clamp(0.0, 1.0)
    by = (low + (high - low) * share**exponent).clamp(min=MIN_TEMPERATURE)
    tempered: Tensor = logits / by.where(most > 0, 1.0)
    return tempered


def smoothing_factor(logits: Tensor, value: tuple[float, float], _: StepContext = ALONE) -> Tensor:
    """Put each logit at max - k f d^2 + s f d^3, with d its distance from the highest (below 0),
    k = (3 - curve) / 2 and s = (curve - 1) / 2.

    As in text-generation-webui's `QuadraticSamplingLogitsWarper`.
    """
    factor, curve = value
    highest = logits.amax(dim=-1, keepdim=True)
    away = logits - highest
    k, s = (3 - curve) / 2, (curve - 1) / 2
    smoothed = -(k * factor * away**2) + s * factor * away**3 + highest
    return smoothed.where(logits > -math.inf, -math.inf)
