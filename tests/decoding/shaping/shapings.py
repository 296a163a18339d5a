"""Random settings of the shaping, for the tests that compare many runs."""

from __future__ import annotations

import random
from dataclasses import replace

from core import Shaping


def _sometimes(dice: random.Random, value: float, neutral: float) -> float:
    return value if dice.random() < 0.4 else neutral


def random_penalties(dice: random.Random) -> Shaping:
    """What acts where nothing is drawn."""
    return Shaping(
        repetition_penalty=_sometimes(dice, round(dice.uniform(0.8, 1.6), 2), 1.0),
        no_repeat_ngram_size=int(_sometimes(dice, dice.randint(1, 4), 0)),
    )


def random_shaping(dice: random.Random) -> Shaping:
    """Every filter and penalty, each in two runs of five."""
    return replace(
        random_penalties(dice),
        temperature=_sometimes(dice, round(dice.uniform(0.2, 2), 2), 1.0),
        top_k=int(_sometimes(dice, dice.randint(1, 80), 0)),
        top_p=_sometimes(dice, round(dice.uniform(0.05, 0.99), 2), 1.0),
        min_p=_sometimes(dice, round(dice.uniform(0.01, 0.4), 2), 0.0),
        typical_p=_sometimes(dice, round(dice.uniform(0.1, 0.95), 2), 1.0),
        epsilon_cutoff=_sometimes(dice, round(dice.uniform(0.001, 0.1), 3), 0.0),
        eta_cutoff=_sometimes(dice, round(dice.uniform(0.001, 0.1), 3), 0.0),
    )
