"""Every filter alone on the same distribution: which tokens each keeps of one step."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..autoregressive.config import Sampling
from ..shaping.config import SAMPLERS, SETTINGS, parts_of
from ..shaping.stage import StepContext
from ..shaping.stages import ACTS
from .step import StepLogits
from .types import Cut, LabStep

CUTS = tuple(name for name in SAMPLERS if SETTINGS[name].role == "filter")


def all_cuts(step_logits: StepLogits, config: Sampling, step: LabStep) -> tuple[Cut, ...]:
    """Apply every filter alone to the step's logits, in the order of runs.

    A filter that is off has its usual value. XTC removes whatever its number of the step.
    """
    ids = torch.tensor([candidate.token_id for candidate in step.step.candidates])
    logits = step_logits.logits
    probs = torch.softmax(logits, dim=-1)
    cuts = []
    for name in CUTS:
        spec, own = SETTINGS[name], getattr(config.shaping, name)
        on = own != spec.off
        first = own if on and name != "xtc_probability" else spec.usual
        value: Any = (first, *(getattr(config.shaping, part) for part in parts_of(name)))
        after = ACTS[name](logits, value if len(value) > 1 else first, StepContext())
        alive = after > -math.inf
        mass = float(probs[alive].double().sum())
        keeps = tuple(alive[ids].tolist())
        # Of XTC the threshold, of mirostat tau.
        shown = value[min(1, len(value) - 1)]
        cuts.append(Cut(name, shown, on, int(alive.sum()), min(mass, 1.0), keeps))
    return tuple(cuts)
