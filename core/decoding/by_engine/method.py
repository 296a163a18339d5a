"""Sampling by the engine in the registry of methods."""

from __future__ import annotations

from typing import Any

from ...language import N_
from ..method import Method
from ..record.steps import MethodRecord
from .config import ByEngine
from .told import EngineRecord, record_of, told_by


def _told(model: Any) -> MethodRecord:
    return record_of(told_by(getattr(model, "last_speculation", None)))


BY_ENGINE = Method(
    config=ByEngine,
    engine=f"{__package__}.engine:generate",
    record=EngineRecord,
    told=_told,
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
