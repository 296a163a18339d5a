"""Record of the tokens that a constraint allowed at one position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from .bounds import MAX_NUMBER, Bounds, Prob, Rank, ShortText, TokenId


class WantedToken(NamedTuple):
    """The model's likeliest token, where the constraint did not allow it."""

    token_id: TokenId
    text: ShortText
    raw_prob: Prob


class Mask(NamedTuple):
    """Tokens that a constraint allowed.

    Args:
        allowed: number of allowed tokens.
        log_mass: ln S, the logarithm of the model's probability mass on them.
        wanted: the model's likeliest token, if it was not allowed.
    """

    allowed: Rank
    log_mass: Annotated[float, Bounds(ge=-MAX_NUMBER, le=0)]
    wanted: WantedToken | None

    def holds(self, probs: Sequence[float]) -> bool:
        """Return whether distinct allowed tokens can have these probabilities in the model."""
        return len(probs) <= self.allowed and math.fsum(probs) <= math.exp(self.log_mass) + 1e-4
