"""Whether every filter cut where the settings put its cut, as far as the shown tokens can tell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from core.decoding.counting import nth
from core.decoding.record.trace import Stage, Trace
from core.decoding.shaping.config import SETTINGS, Shaping
from core.decoding.shaping.spec import FloorCut, MassCut, RankCut, Seen

# Sums of float32 probabilities over a vocabulary stay within this of the truth.
MASS_TOLERANCE = 1e-4
_RELATIVE = 1e-4


def shown_cut_faults(trace: Trace) -> Iterator[str]:
    """Cuts that the numbers of the trace's own candidates contradict."""
    for step in trace.token_steps:
        for before, after in pairwise(step.stages):
            if after.name in SETTINGS and not _shown(before, after, trace.config.shaping):
                yield f"step {nth(step.index)}: {after.name} did not cut where the settings say"


def _shown(before: Stage, after: Stage, shaping: Shaping) -> bool:
    """Whether the cut may lie where the settings put it."""
    value, cut = getattr(shaping, after.name), SETTINGS[after.name].cut
    if isinstance(cut, RankCut):
        return _shown_rank(before, after, value)
    if isinstance(cut, MassCut):
        # The last token that was needed is no more probable than any survivor; by typicality it
        # may be any, a hidden one too.
        survivor = min(_survivors(before, after), default=1.0)
        last = survivor if cut.first == "likeliest" else max(*before.probs, before.tail_mass)
        return _shown_mass(after, value, last)
    return cut is None or _shown_floor(before, after, cut, value)


def _survivors(before: Stage, after: Stage) -> list[float]:
    """What the shown tokens that survived had before, highest first."""
    pairs = zip(before.probs, after.probs, strict=True)
    return sorted((old for old, new in pairs if new > 0), reverse=True)


def _shown_rank(before: Stage, after: Stage, k: int) -> bool:
    shown = _survivors(before, after)
    tied = len(shown) <= k or shown[k - 1] == shown[k]
    return after.kept == min(k, before.kept) or (after.kept > k and tied)


def _shown_mass(after: Stage, wanted: float, last: float) -> bool:
    rest = 1 - after.removed_mass
    return wanted - MASS_TOLERANCE <= rest and rest - last <= wanted + MASS_TOLERANCE


def _shown_floor(before: Stage, after: Stage, cut: FloorCut, value: float) -> bool:
    """Whether survivors (the likeliest aside) may lie above the floor, and removed ones below.

    What the candidates don't tell leaves the floor a range: a hidden token may be the likeliest
    (after a penalty), and entropy and deviation may be anything.
    """
    shown = max(before.probs)
    low = cut.level(value, Seen(shown, math.inf, math.inf))
    high = cut.level(value, Seen(max(shown, before.tail_mass), 0.0, 0.0))
    removed = (old for old, new in zip(before.probs, after.probs, strict=True) if new == 0)
    return all(p >= low * (1 - _RELATIVE) for p in _survivors(before, after)[1:]) and all(
        p <= high * (1 + _RELATIVE) for p in removed
    )
