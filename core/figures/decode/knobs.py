"""Data for shaping a step again in a reader's browser: the candidates, and bounds for all other
tokens.

For the tokens that a step doesn't record, only their number, mass, part of the entropy, and mass at
the run's own temperature are known. The logarithm of the sum of their p^a is convex in a = 1 /
temperature, so these numbers bound it at every temperature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile

from ...decoding.record.steps import Candidate, Stage, TokenStep
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import SETTINGS
from ..base.labels import percent_ticks

NAMES = ("temperature", "top_k", "top_p", "min_p")
_STAGES = {"raw", "argmax", "final", *NAMES}
# Rounding error of a stored mass, a difference of float32 sums.
_ERROR = 2e-6


def knobs_of(step: TokenStep, trace: Trace, room: float) -> dict[str, object] | None:
    """Return the knobs' data; None if a step has stages besides temperature, top-k, top-p and
    min-p, or no bounds for its tail.

    Args:
        room: share of the axis that a bar's label takes.
    """
    stages = {stage.name for stage in step.stages}
    if (
        trace.known is not None
        or "raw" not in stages
        or not stages <= _STAGES
        or step.origin == "forced"
        or step.compared
    ):
        return None
    first = [c for _, c in takewhile(lambda o: o[0] == o[1].rank, enumerate(step.candidates, 1))]
    count = step.stages[0].kept - len(step.candidates)
    if not first or first[-1].raw_prob <= 0 or count < 0:
        return None
    return {
        "tokens": [[c.token_id, c.rank, c.logit, c.raw_prob] for c in step.candidates],
        "ranked": len(first),
        "rest": count,
        "points": _points(step, count),
        "slope": _slope(step, first[-1], count),
        "cap": math.log(first[-1].raw_prob),
        "start": _start(step, trace),
        "axes": [
            {"top": top, **_axis(top, room)}
            for top in (1, 0.6, 0.4, 0.25, 0.15, 0.1, 0.06, 0.03, 0.01, 0.001)
        ],
    }


def _start(step: TokenStep, trace: Trace) -> dict[str, float]:
    shaping = trace.config.shaping
    drawn = all(stage.name != "argmax" for stage in step.stages)
    if drawn:
        return {name: getattr(shaping, name) for name in NAMES}
    return {**{name: float(SETTINGS[name].off) for name in NAMES}, "temperature": 0}


def _axis(top: float, room: float) -> dict[str, object]:
    ticks = percent_ticks(top)
    return {
        "range": [0, top / (1 - room)],
        "tickvals": ticks["tickvals"],
        "ticktext": ticks["ticktext"],
    }


def _points(step: TokenStep, count: int) -> list[list[float]]:
    """Return points with known bounds of the logarithm of the sum of p^a over the rest: a and both
    bounds.
    """
    if not count:
        return []
    mass = step.tail_mass
    ends = [math.log(max(mass - _ERROR, 1e-30)), math.log(mass + _ERROR)]
    points = [[0.0, math.log(count), math.log(count)], [1.0, *ends]]
    warmed = next((stage for stage in step.stages if stage.name == "temperature"), None)
    if warmed is not None and (point := _at_own(step, warmed)):
        points.append(point)
    return sorted(points)


def _at_own(step: TokenStep, warmed: Stage) -> list[float] | None:
    """Return the point at the run's own temperature, derived from the first and the last
    candidate.
    """
    pairs = [(c.raw_prob, p) for c, p in zip(step.candidates, warmed.probs, strict=True)]
    high, low = pairs[0], pairs[-1]
    if min(*high, *low) <= 0 or high[0] / low[0] < 2 or warmed.tail_mass >= 1 - _ERROR:
        return None
    at = math.log(high[1] / low[1]) / math.log(high[0] / low[0])
    if not 0 < at < 100 or abs(at - 1) < 1e-3:
        return None
    seen = math.log(sum(prob**at for prob, _ in pairs))
    edges = (max(warmed.tail_mass - _ERROR, 1e-30), warmed.tail_mass + _ERROR)
    return [at, *(seen + math.log(mass / (1 - mass)) for mass in edges)]


def _slope(step: TokenStep, last: Candidate, count: int) -> list[float]:
    """Return bounds of the mean of ln p over the rest, weighted by p: the slope at a = 1."""
    if not count:
        return [0.0, 0.0]
    high = math.log(last.raw_prob)
    low = math.log(max(step.tail_mass - _ERROR, 1e-30)) - math.log(count)
    tail_entropy = step.entropy - _entropy([c.raw_prob for c in step.candidates])
    ends = sorted(-(tail_entropy + error) / (step.tail_mass or 1e-30) for error in (-4e-6, 4e-6))
    return [max(low, min(ends[0], high)), min(high, max(ends[1], low))]


def _entropy(probs: Sequence[float]) -> float:
    return -math.fsum(prob * math.log(prob) for prob in probs if prob > 0)
