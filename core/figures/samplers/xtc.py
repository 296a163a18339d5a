"""Sentence about a step's XTC: what it removed, and the number that decided it."""

from __future__ import annotations

from ...decoding.record.steps import TokenStep
from ...decoding.shaping.config import Shaping
from ...language import tr, trn
from ..base.labels import percent

_NAME = "xtc_probability"


def xtc_words(shaping: Shaping, step: TokenStep) -> str:
    """Return what XTC removed and why, with ranks as tokens' names; empty where it is off."""
    stage = next((stage for stage in step.stages if stage.name == _NAME), None)
    if stage is None or stage.noise is None:
        return ""
    probability, threshold = shaping.value_of(_NAME)
    if stage.noise >= probability:
        return tr(
            "XTC didn't act: its number {number:.4f} isn't below its probability {probability:g}.",
            number=stage.noise,
            probability=probability,
        )
    ranks = [f"{c.rank:,}" for c in step.candidates if c.removed_by == _NAME]
    if not ranks:
        return tr(
            "XTC removed nothing: fewer than two tokens reach {threshold}.",
            threshold=percent(threshold),
        )
    mass = percent(stage.removed_mass)
    return trn(
        "XTC removed rank {ranks}, {mass}: its number {number:.4f} is below its "
        "probability {probability:g}, so of the tokens that reach {threshold} only the least "
        "likely stays.",
        "XTC removed ranks {ranks}, {mass}: its number {number:.4f} is below its "
        "probability {probability:g}, so of the tokens that reach {threshold} only the least "
        "likely stays.",
        len(ranks),
        ranks=tr(", ").join(ranks),
        mass=mass if len(ranks) == 1 else tr("{mass} together", mass=mass),
        number=stage.noise,
        probability=probability,
        threshold=percent(threshold),
    )
