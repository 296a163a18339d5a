"""Sampling by the engine in the registry of methods."""

from __future__ import annotations

from ...language import N_
from ..method import Method
from .config import ByEngine

BY_ENGINE = Method(
    config=ByEngine,
    engine=f"{__package__}.engine:generate",
    reads_prompt=False,
    takes_known=True,
    known=ByEngine.known_by,
    against_model=N_(
        "Asks the server for every position again, step by step, and compares the "
        "log-probabilities. How it drew can't be repeated: the dice are its own."
    ),
    self_checks=f"{__package__}.checks:self_checks",
    model_checks=f"{__package__}.checks:model_checks",
)
