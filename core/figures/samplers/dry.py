"""Sentence about a step's DRY: the token that it lowers most, and by how much."""

from __future__ import annotations

from ...decoding.shaping.config import Shaping
from ...decoding.shaping.repeats import Repeat
from ...language import tr


def dry_words(shaping: Shaping, token: str, repeat: Repeat, count: int) -> str:
    """Return the penalty of the token that DRY lowers most, as a formula.

    Args:
        token: the token, as it is shown.
        repeat: the repeat that it would continue.
        count: number of tokens that DRY lowers.
    """
    multiplier, base, allowed, *_ = shaping.value_of("dry_multiplier")
    penalty = repeat.penalty(multiplier, base, allowed)
    formula = f"{multiplier:g} × {base:g}^({repeat.length} − {allowed}) = {penalty:.3g}"
    if count > 1:
        return tr(
            "DRY lowers the logit of “{token}” most: by {formula}.", token=token, formula=formula
        )
    return tr("DRY lowers the logit of “{token}”: by {formula}.", token=token, formula=formula)
