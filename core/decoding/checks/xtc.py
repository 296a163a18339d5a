"""Check of XTC at a step, from the recorded probabilities and XTC's own number."""

from __future__ import annotations

import math
from itertools import pairwise

from ...language import N_, Message
from ..counting import at_step
from ..record.steps import Stage, TokenStep
from ..shaping.config import Shaping
from .common import MASS_TOLERANCE, TINY, VALUE_TOLERANCE

NAME = "xtc_probability"


def xtc_fault(step: TokenStep, shaping: Shaping) -> str:
    """Describe a stage of XTC that the settings don't give; empty for none."""
    probability, threshold = shaping.value_of(NAME)
    for before, after in pairwise(step.stages):
        if after.name != NAME:
            continue
        if after.noise is None:
            return at_step(step.index, N_("XTC's number was not recorded"))
        if after.noise < probability:
            fault = _acting_fault(before, after, threshold)
        else:
            acted = after.kept != before.kept or after.removed_mass > MASS_TOLERANCE
            fault = N_("it acted, and its number is not below its probability") if acted else ""
        if fault:
            return at_step(step.index, Message("XTC: {fault}", fault=Message(fault)))
    return ""


def _acting_fault(before: Stage, after: Stage, threshold: float) -> str:
    """Describe what XTC can't have removed or left.

    Tokens that are not recorded reach the threshold only if their mass does.
    """
    pairs = [
        (old, new > 0) for old, new in zip(before.probs, after.probs, strict=True) if old > TINY
    ]
    removed = [prob for prob, left in pairs if not left]
    least = min(removed, default=1.0)
    likely = [prob for prob, left in pairs if left and prob >= threshold + VALUE_TOLERANCE]
    if least < threshold - VALUE_TOLERANCE:
        return N_("a token below the threshold was removed")
    if len(likely) > 1 or any(prob > least + VALUE_TOLERANCE for prob in likely):
        return N_("a token above the threshold was left beside the least likely one")
    gone = before.kept - after.kept
    if before.tail_mass >= threshold - MASS_TOLERANCE:
        most = len(removed) + before.tail_mass / threshold + 1
        return "" if len(removed) <= gone <= most else N_("more tokens were removed than reach it")
    if removed and not any(left and prob >= threshold - VALUE_TOLERANCE for prob, left in pairs):
        return N_("no token above the threshold was left")
    if gone != len(removed) or abs(after.removed_mass - math.fsum(removed)) > MASS_TOLERANCE:
        return N_("a token below the threshold was removed")
    return ""
