"""Record of the tokens that a constraint allowed at one position."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from ...language import N_, Message
from .bounds import MAX_NUMBER, Bounds, Prob, Rank, ShortText, TokenId

# Of sums of float32 probabilities, and of exponentials of float32 log-probabilities.
_RELATIVE_ERROR = 1e-3
_NONE: Mapping[int, float] = {}


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

    def fault(self, allowed: Mapping[int, float], refused: Mapping[int, float] = _NONE) -> str:
        """Describe a contradiction to the model's probabilities of some tokens; empty for none.

        Args:
            allowed: probabilities by token, all of them allowed.
            refused: probabilities of tokens that may be refused.
        """
        mass, shown, wanted = math.exp(self.log_mass), math.fsum(allowed.values()), self.wanted
        more, slack = self.allowed - len(allowed), 1 + _RELATIVE_ERROR
        if more < 0:
            return Message("more than {allowed} tokens are allowed", allowed=self.allowed)
        if shown > mass * slack:
            return Message("allowed tokens have more than S = {mass:.3g}", mass=mass)
        most = 1.0 if wanted is None else wanted.raw_prob
        if mass > (shown + more * most) * slack:
            return Message(
                "{allowed} allowed tokens can't have S = {mass:.3g}",
                allowed=self.allowed,
                mass=mass,
            )
        if wanted is None:
            return ""
        seen = {**refused, **allowed}
        if wanted.token_id in allowed or wanted.raw_prob + mass > slack:
            return N_("its wanted token is allowed")
        if not math.isclose(seen.get(wanted.token_id, most), most, rel_tol=_RELATIVE_ERROR) or any(
            prob > most * slack for prob in seen.values()
        ):
            return N_("its wanted token is not the likeliest")
        return ""
