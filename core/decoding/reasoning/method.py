"""Reasoning under a budget in the registry of methods."""

from __future__ import annotations

from core.decoding.autoregressive.method import GREEDY_AT_0
from core.decoding.method import Method
from core.decoding.reasoning.config import Reasoning

REASONING = Method(
    config=Reasoning,
    engine="core.decoding.reasoning.engine:generate",
    against_model="Scores the text again in one independent forward pass, shapes it anew, and "
    "applies the budget's rules again to what the model picked.",
    self_checks="core.decoding.reasoning.checks:self_checks",
    model_checks="core.decoding.reasoning.checks:model_checks",
    notes=lambda config: (GREEDY_AT_0,) if config.do_sample and not config.draws else (),
)
