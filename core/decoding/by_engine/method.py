"""Sampling by the engine in the registry of methods."""

from __future__ import annotations

from core.decoding.by_engine.config import ByEngine
from core.decoding.method import Method

BY_ENGINE = Method(
    config=ByEngine,
    engine="core.decoding.by_engine.engine:generate",
    reads_prompt=False,
    takes_known=True,
    known=ByEngine.known_by,
    against_model="Asks the server for every position again, step by step, and compares the "
    "log-probabilities. How it drew can't be repeated: the dice are its own.",
    self_checks="core.decoding.by_engine.checks:self_checks",
    model_checks="core.decoding.by_engine.checks:model_checks",
)
