"""Whether every filter cut where the settings put its cut, as far as the shown tokens can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from core.decoding.shaping.config import Shaping
from core.decoding.trace import Stage, Trace

# Sums of float32 probabilities over a vocabulary stay within this of the truth.
MASS_TOLERANCE = 1e-4
_RELATIVE = 1e-4


def shown_cut_faults(trace: Trace) -> Iterator[str]:
    """Cuts that the numbers of the trace's own candidates contradict."""
    for step in trace.token_steps:
        for before, after in pairwise(step.stages):
            rule = _SHOWN_RULES.get(after.name)
            if rule and not rule(before, after, trace.config.shaping):
                yield f"step {step.index}: {after.name} did not cut where the settings say"


def _survivors(before: Stage, after: Stage) -> list[float]:
    """What the shown tokens that survived had before, highest first."""
    pairs = zip(before.probs, after.probs, strict=True)
    return sorted((old for old, new in pairs if new > 0), reverse=True)


def _shown_top_k(before: Stage, after: Stage, shaping: Shaping) -> bool:
    k, shown = shaping.top_k, _survivors(before, after)
    tied = len(shown) <= k or shown[k - 1] == shown[k]
    return after.kept == min(k, before.kept) or (after.kept > k and tied)


def _shown_mass(after: Stage, wanted: float, last: float) -> bool:
    rest = 1 - after.removed_mass
    return wanted - MASS_TOLERANCE <= rest and rest - last <= wanted + MASS_TOLERANCE


def _shown_top_p(before: Stage, after: Stage, shaping: Shaping) -> bool:
    # The last token that was needed is no more probable than any survivor.
    last = min(_survivors(before, after), default=1.0)
    return _shown_mass(after, shaping.top_p, last)


def _shown_typical_p(before: Stage, after: Stage, shaping: Shaping) -> bool:
    # The last token that was needed may be any, a hidden one too.
    last = max(*before.probs, before.tail_mass)
    return _shown_mass(after, shaping.typical_p, last)


def _shown_floor(before: Stage, after: Stage, low: float, high: float) -> bool:
    """Whether survivors (the likeliest aside) are at least `low`, and removed ones below `high`."""
    removed = (old for old, new in zip(before.probs, after.probs, strict=True) if new == 0)
    return all(p >= low * (1 - _RELATIVE) for p in _survivors(before, after)[1:]) and all(
        p <= high * (1 + _RELATIVE) for p in removed
    )


def _shown_min_p(before: Stage, after: Stage, shaping: Shaping) -> bool:
    shown = max(before.probs)
    # A hidden token may be the likeliest, after a penalty.
    likeliest = max(shown, before.tail_mass)
    return _shown_floor(before, after, shaping.min_p * shown, shaping.min_p * likeliest)


def _shown_epsilon(before: Stage, after: Stage, shaping: Shaping) -> bool:
    return _shown_floor(before, after, shaping.epsilon_cutoff, shaping.epsilon_cutoff)


def _shown_eta(before: Stage, after: Stage, shaping: Shaping) -> bool:
    return _shown_floor(before, after, 0.0, shaping.eta_cutoff)


_SHOWN_RULES: dict[str, Callable[[Stage, Stage, Shaping], bool]] = {
    "top_k": _shown_top_k,
    "top_p": _shown_top_p,
    "min_p": _shown_min_p,
    "typical_p": _shown_typical_p,
    "epsilon_cutoff": _shown_epsilon,
    "eta_cutoff": _shown_eta,
}
