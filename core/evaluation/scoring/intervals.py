"""Wilson's confidence interval of a proportion."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from ..grouping import grouped
from ..types import Share

_Z = 1.959963984540054  # 97.5 % of a normal distribution lie below it


def wilson(hits: int, total: int) -> Share:
    """Return a share with its 95 % score interval (Wilson 1927); [0, 1] without trials."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no share.")
    return Share(hits, total, *_ends(hits / total, total)) if total else Share(0, 0, 0.0, 1.0)


def wilson_of_groups(groups: Sequence[tuple[int, int]]) -> Share:
    """Return a share with its interval for groups of trials, as (hits, trials) of each group.

    Trials in a group, such as samples of one problem, are correlated and tell less than independent
    ones: the interval uses their effective number, p (1 - p) over the variance of the share between
    groups (Kish 1965, the design effect), at least the number of groups, at most that of trials.
    """
    groups = [group for group in groups if group[1]]
    whole, count = wilson(sum(h for h, _ in groups), sum(n for _, n in groups)), len(groups)
    share = whole.value
    spread = sum((hits - share * tried) ** 2 for hits, tried in groups)
    if not count:
        return whole
    variance = spread / whole.total**2 * count / max(1, count - 1)
    # All right or all wrong doesn't show the correlation within a group: count one trial each.
    alike = math.inf if 0 < share < 1 else count
    effective = share * (1 - share) / variance if variance else alike
    low, high = _ends(share, min(max(effective, count), whole.total))
    return whole._replace(low=low, high=high)


def wilson_by_group(trials: Iterable[tuple[Hashable, bool]]) -> Share:
    """Return `wilson_of_groups` for pairs of a group's name and a hit or miss."""
    return wilson_of_groups([(sum(hits), len(hits)) for hits in grouped(trials).values()])


def _ends(share: float, total: float) -> tuple[float, float]:
    square = _Z * _Z / total
    middle = share + square / 2
    half = _Z * math.sqrt(share * (1 - share) / total + square / (4 * total))
    # Rounding must not push the ends beyond 0 or 1.
    low = (middle - half) / (1 + square) if share > 0 else 0.0
    high = (middle + half) / (1 + square) if share < 1 else 1.0
    return low, high
