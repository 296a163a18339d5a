"""Signs that a trace was made by a model: revision, number type, digits of its logits."""

from __future__ import annotations

import math

import torch

from ..protocol import LanguageModel
from ..record.trace import Trace

_COARSE = {"bfloat16": torch.bfloat16, "float16": torch.float16}
# Relative rounding error of a number in a file.
_FILE_DIGITS = 1e-6


def is_of_dtype(dtype: str, model: LanguageModel) -> bool:
    """Return whether the recorded dtype can be the model's; true if either is unknown."""
    return not dtype or not model.dtype or dtype == model.dtype


def is_finer(trace: Trace, model: LanguageModel) -> bool:
    """Return whether recorded logits are finer than the model's dtype allows."""
    kind = _COARSE.get(model.dtype)
    if kind is None or trace.known is not None:
        return False
    prompt = trace.prompt_step.positions if trace.prompt_step else ()
    shown = [*(at.candidates for at in prompt), *(at.candidates for at in trace.token_steps)]
    numbers = [c.logit for candidates in shown for c in candidates]
    recorded = torch.tensor([x for x in numbers if math.isfinite(x)], dtype=torch.float64)
    trial = getattr(model, "trial_logits", None)
    logits = (
        trial() if trial else model.start(trace.prompt_ids[:1], use_cache=False).logits
    ).double()
    if not torch.equal(logits.to(kind).double(), logits):
        return False
    apart = (recorded.to(kind).double() - recorded).abs()
    return bool((apart > _FILE_DIGITS * recorded.abs().clamp(min=1)).any())


def made_by(trace: Trace, model: LanguageModel) -> bool:
    """Return whether the model made the trace: by its revision, else by its name."""
    if trace.model_revision:
        return trace.model_revision == model.revision
    return trace.model_id == model.model_id
