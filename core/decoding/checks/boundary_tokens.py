"""Where rounding alone may decide on which side of a filter's cut a token is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from core.decoding.checks.filter_cuts import MASS_TOLERANCE
from core.decoding.checks.replay import seen_in
from core.decoding.shaping.config import SETTINGS, WARPERS, Shaping
from core.decoding.shaping.spec import FloorCut, MassCut, RankCut
from core.decoding.shaping.stages import penalties, warpers


def boundary_tokens(
    logits: Tensor,
    shaping: Shaping,
    tolerance: float,
    before: Sequence[int],
    held_back: Sequence[int],
    min_tokens_to_keep: int = 1,
) -> tuple[Tensor, float]:
    """Which tokens are so near to a cut that rounding may move them across it, `[vocab]`; and how
    far probabilities may be off.

    Args:
        logits: `[vocab]`, known to within `tolerance` nats.
        before: the ids that they follow on.
        held_back: end-of-sequence ids while `min_new_tokens` is not reached, else empty.
        min_tokens_to_keep: how many tokens every filter leaves at least.
    """
    for name, process in penalties(shaping, before, held_back):
        logits = process(logits)
        if name in SETTINGS:
            tolerance *= SETTINGS[name].stretch(getattr(shaping, name))
    if shaping.temperature == 0:
        near = logits >= logits.max() - 4 * tolerance
        tied = int(near.sum()) > 1
        return near if tied else torch.zeros_like(near), float(tied)
    tolerance /= shaping.temperature
    kept = [_filtered(logits, shaping, sign * tolerance, min_tokens_to_keep) for sign in (1, -1)]
    near = (kept[0] > -math.inf) != (kept[1] > -math.inf)
    for count in _counts(shaping, min_tokens_to_keep):
        near |= _tied_with_last(logits / shaping.temperature, count, 4 * tolerance)
    mass = float(torch.softmax(kept[0], -1)[near].sum())
    return near, MASS_TOLERANCE + 4 * tolerance + 2 * mass


def _counts(shaping: Shaping, min_tokens_to_keep: int) -> set[int]:
    """After how many tokens, highest first, a filter may cut because of their number alone."""
    active = [name for name in shaping.active(WARPERS) if SETTINGS[name].cut is not None]
    found = {
        max(getattr(shaping, name), min_tokens_to_keep)
        for name in active
        if isinstance(SETTINGS[name].cut, RankCut)
    }
    return found | {min_tokens_to_keep} if active and min_tokens_to_keep > 1 else found


def _tied_with_last(logits: Tensor, k: int, tolerance: float) -> Tensor:
    """The tokens next to the k-th, if there are any; a mask `[vocab]`."""
    kth = torch.topk(logits, min(k, len(logits)))[0][-1]
    edge = (logits - kth).abs() <= tolerance
    return edge if int(edge.sum()) > 1 else torch.zeros_like(edge)


def _filtered(logits: Tensor, shaping: Shaping, by: float, min_tokens_to_keep: int) -> Tensor:
    """The logits after temperature and filters that are a little looser (`by` above 0) or stricter.

    Wanted masses move by `by` and the sums' own error, floors by `by` in proportion.
    """
    shift = (MASS_TOLERANCE + 4 * abs(by)) * (1 if by > 0 else -1)
    masses = {
        name: min(max(getattr(shaping, name) + shift, 1e-9), 1.0)
        for name in shaping.active(WARPERS)
        if isinstance(SETTINGS[name].cut, MassCut)
    }
    for name, process in warpers(replace(shaping, **masses), min_tokens_to_keep):
        rule = SETTINGS[name].cut
        spared = torch.topk(logits, min(min_tokens_to_keep, len(logits)))[0][-1]
        if isinstance(rule, FloorCut) and logits.max() > -math.inf:
            value = getattr(shaping, name)
            level = rule.level(value, seen_in(logits)) * (1 - (4 + rule.sway(value)) * by)
            below = (torch.softmax(logits, -1) < level) & (logits < spared)
            logits = logits.masked_fill(below, -math.inf)
        else:
            logits = process(logits)
    return logits
