"""Pearson's chi-square tests: counts against probabilities, and counts against counts."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def chi_square(bins: Sequence[tuple[float, int]]) -> tuple[float, int, float | None]:
    """Return Pearson's statistic of (probability, count) pairs, its degrees of freedom, and the
    p-value.

    The p-value is the regularised upper incomplete gamma function Q(degrees / 2, statistic / 2).
    """
    total = sum(count for _, count in bins)
    square = sum((count - total * p) ** 2 / (total * p) for p, count in bins if p > 0 and total)
    degrees = len(bins) - 1
    if degrees < 1 or not total:
        return square, max(degrees, 0), None
    return square, degrees, p_value(square, degrees)


def homogeneity(pairs: Sequence[tuple[int, int]]) -> tuple[float, int, float | None]:
    """Run Pearson's test that two samples of equal size have one distribution.

    Args:
        pairs: counts of each outcome in both samples; no pair sums to 0.
    """
    square = sum((a - b) ** 2 / (a + b) for a, b in pairs)
    degrees = max(0, len(pairs) - 1)
    return square, degrees, p_value(square, degrees) if degrees else None


def p_value(square: float, degrees: int) -> float:
    """Return the probability that a chi-square variable is this large or larger."""
    halves = torch.tensor([degrees / 2, square / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(halves[0], halves[1]))
