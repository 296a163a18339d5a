"""How sure a share is: Wilson's interval."""

from __future__ import annotations

import math

from core.reasoning.types import Share

_Z = 1.959963984540054  # 97.5 % of a normal distribution lie below it


def wilson(hits: int, total: int) -> Share:
    """A share with its 95 % score interval (Wilson 1927); all of [0, 1] where nothing was tried."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no share.")
    if not total:
        return Share(0, 0, 0.0, 1.0)
    share, square = hits / total, _Z * _Z / total
    middle = share + square / 2
    half = _Z * math.sqrt(share * (1 - share) / total + square / (4 * total))
    # Rounding must not push the ends of 0 and of all beyond them.
    low = (middle - half) / (1 + square) if hits else 0.0
    high = (middle + half) / (1 + square) if hits < total else 1.0
    return Share(hits, total, low, high)
