"""Greedy decoding and sampling in the registry of methods."""

from __future__ import annotations

from typing import Any

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.method import Method

_ENGINE = "core.decoding.autoregressive.engine:generate"
_AGAINST_MODEL = (
    "Scores the text again in one independent forward pass and shapes it anew; where the run is "
    "greedy or draws by multinomial, transformers' own generate runs beside it."
)
TEMPERATURE_0 = "Temperature 0 means greedy: the most probable token, nothing is drawn."


def _notes(config: Sampling) -> tuple[str, ...]:
    return () if config.draws else (TEMPERATURE_0,)


def _reference(config: Sampling) -> dict[str, Any] | None:
    comparable = config.draw == "multinomial" or not config.draws
    return {"do_sample": config.draws} if comparable else None


GREEDY = Method(
    config=Greedy,
    engine=_ENGINE,
    against_model=_AGAINST_MODEL,
    reference=lambda _: {"do_sample": False},
)
SAMPLING = Method(
    config=Sampling,
    engine=_ENGINE,
    against_model=_AGAINST_MODEL,
    notes=_notes,
    reference=_reference,
)
