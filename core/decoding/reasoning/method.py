"""Reasoning under a budget in the registry of methods."""

from __future__ import annotations

from ...language import N_
from ..autoregressive.method import GREEDY_AT_0
from ..method import Method
from .config import Reasoning

REASONING = Method(
    config=Reasoning,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Scores the text again in one independent forward pass, shapes it anew, and "
        "applies the budget's rules again to what the model picked."
    ),
    self_checks=f"{__package__}.checks:self_checks",
    model_checks=f"{__package__}.checks:model_checks",
    notes=lambda config: (GREEDY_AT_0,) if config.do_sample and not config.draws else (),
)
