"""Random settings of the shaping, for the tests that compare many runs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from core import Shaping
from core.decoding.shaping.config import PENALTIES, SETTINGS, WARPERS

# Where a slider's range would hardly ever leave a choice, or there is no slider.
_RANGES = {
    "repetition_penalty": (0.8, 1.6),
    "no_repeat_ngram_size": (1, 4),
    "temperature": (0.2, 2.0),
    "top_h": (0.05, 1.0),
    "top_k": (1, 80),
    "top_p": (0.05, 0.99),
    "min_p": (0.01, 0.4),
    "typical_p": (0.1, 0.95),
    "epsilon_cutoff": (0.001, 0.1),
    "eta_cutoff": (0.001, 0.1),
}


def random_settings(
    dice: random.Random, names: Iterable[str], share: float = 0.4
) -> dict[str, Any]:
    """A value for each of some settings, switched off in all but a share of runs.

    A setting that is no number, and so has no range, stays off; so does SynthID, which beam search
    refuses, and which `generate` has not beside the other watermark. Mirostat is alone, without
    adaptive-p.
    """
    values = {name: _value(dice, name, share) for name in names}
    if values.get("mirostat"):
        values.pop("adaptive_target", None)
    return values


def _value(dice: random.Random, name: str, share: float) -> Any:
    spec = SETTINGS[name]
    if name in _RANGES:
        low, high = _RANGES[name]
    elif spec.slider is not None and name != "synthid_depth":
        low, high = spec.slider.low + spec.slider.step, spec.slider.high - spec.slider.step
    else:
        return spec.off
    value = dice.randint(int(low), int(high)) if spec.whole else round(dice.uniform(low, high), 3)
    return value if dice.random() < share else spec.off


def random_penalties(dice: random.Random) -> Shaping:
    """Return random penalties, the settings that act without sampling too."""
    return Shaping(**random_settings(dice, (n for n in PENALTIES if SETTINGS[n].generate)))


def random_shaping(dice: random.Random) -> Shaping:
    """Every filter and penalty that `generate` has too, each in two runs of five."""
    return Shaping(
        **random_settings(dice, (n for n in (*PENALTIES, *WARPERS) if SETTINGS[n].generate))
    )
