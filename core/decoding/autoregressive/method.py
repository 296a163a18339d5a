"""Greedy decoding and sampling in the registry of methods."""

from __future__ import annotations

from typing import Any

from ...language import N_
from ..method import Method
from ..record.notes import TEMPERATURE_0, Note
from .config import Greedy, Sampling, drawn_by

_ENGINE = f"{__package__}.engine:generate"
_AGAINST_MODEL = N_(
    "Scores the text again in one independent forward pass and shapes it anew; "
    "where the run is greedy or draws by multinomial, transformers' own generate "
    "runs beside it."
)
GREEDY_AT_0 = Note(
    TEMPERATURE_0, N_("Temperature 0 means greedy: the most probable token, nothing is drawn.")
)


def _reference(config: Sampling) -> dict[str, Any] | None:
    if not drawn_by(config):
        return {"do_sample": False}
    return {"do_sample": True} if config.draw == "multinomial" else None


GREEDY = Method(
    config=Greedy,
    engine=_ENGINE,
    takes_known=True,
    takes_given=True,
    against_model=_AGAINST_MODEL,
    reference=lambda _: {"do_sample": False},
)
SAMPLING = Method(
    config=Sampling,
    engine=_ENGINE,
    takes_known=True,
    takes_given=True,
    against_model=_AGAINST_MODEL,
    notes=lambda config: () if drawn_by(config) else (GREEDY_AT_0,),
    reference=_reference,
)
