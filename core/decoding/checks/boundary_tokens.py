"""Where rounding alone may decide on which side of a filter's cut a token stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from core.decoding.checks.filter_cuts import MASS_TOLERANCE
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.stages import penalties, warpers


def near_cuts(
    logits: Tensor,
    shaping: Shaping,
    tolerance: float,
    before: Sequence[int],
    held_back: Sequence[int],
) -> tuple[Tensor, float]:
    """Which tokens stand so near to a cut that rounding may move them across it, `[vocab]`; and how
    far probabilities may be off.

    Args:
        logits: `[vocab]`, known to within `tolerance` nats.
        before: the ids that they follow on.
        held_back: end-of-sequence ids while `min_new_tokens` is not reached, else empty.
    """
    for name, act in penalties(shaping, before, held_back):
        logits = act(logits)
        if name == "repetition_penalty":
            tolerance *= max(shaping.repetition_penalty, 1 / shaping.repetition_penalty)
    if shaping.temperature == 0:
        near = logits >= logits.max() - 4 * tolerance
        tied = int(near.sum()) > 1
        return near if tied else torch.zeros_like(near), float(tied)
    tolerance /= shaping.temperature
    kept = [_after_filters(logits, _moved(shaping, sign * tolerance)) for sign in (1, -1)]
    near = (kept[0] > -math.inf) != (kept[1] > -math.inf)
    if shaping.top_k:
        tempered = logits / shaping.temperature
        kth = torch.topk(tempered, min(shaping.top_k, len(logits)))[0][-1]
        edge = (tempered - kth).abs() <= 4 * tolerance
        near |= edge if int(edge.sum()) > 1 else torch.zeros_like(edge)
    mass = float(torch.softmax(kept[0], -1)[near].sum())
    return near, MASS_TOLERANCE + 4 * tolerance + 2 * mass


def _after_filters(logits: Tensor, shaping: Shaping) -> Tensor:
    for _, act in warpers(shaping):
        logits = act(logits)
    return logits


def _moved(shaping: Shaping, by: float) -> Shaping:
    """Every filter a little looser (`by` above 0) or stricter."""
    shift, factor = (MASS_TOLERANCE + 4 * abs(by)) * (1 if by > 0 else -1), 1 - 4 * by

    def mass(value: float) -> float:
        return value if value == 1 else min(max(value + shift, 1e-9), 1.0)

    def floor(value: float) -> float:
        return min(max(value * factor, 0.0), 1 - 1e-9) if value else 0.0

    return replace(
        shaping,
        top_p=mass(shaping.top_p),
        typical_p=mass(shaping.typical_p),
        min_p=floor(shaping.min_p),
        epsilon_cutoff=floor(shaping.epsilon_cutoff),
        eta_cutoff=floor(shaping.eta_cutoff),
    )
