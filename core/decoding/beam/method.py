"""Beam search in the registry of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...language import N_
from ..method import Method
from ..record.notes import TEMPERATURE_0, Note
from ..record.steps import RunTokens, Step
from .config import BeamSearch
from .replay import best_row, replay
from .types import BeamStep, SearchRecord


def _outcome(steps: Sequence[Step], config: BeamSearch, _: object) -> RunTokens:
    """Return the best hypothesis; for a cancelled search without hypotheses, the best row."""
    searched = [step for step in steps if isinstance(step, BeamStep)]
    hypotheses = replay(searched, config).hypotheses
    if hypotheses:
        token_ids = hypotheses[0].token_ids
    else:
        token_ids = tuple(candidate.token_id for candidate in best_row(searched))
    return RunTokens(token_ids, SearchRecord(hypotheses))


def _notes(config: BeamSearch) -> tuple[Note, ...]:
    if config.do_sample and not config.draws:
        words = N_("Temperature 0 means plain beam search: the best candidates, nothing is drawn.")
        return (Note(TEMPERATURE_0, words),)
    return ()


def _reference(config: BeamSearch) -> dict[str, Any] | None:
    """Return the settings of transformers' search; None for groups, which transformers 5
    dropped.
    """
    if config.num_beam_groups > 1:
        return None
    return {
        "num_beams": config.num_beams,
        "num_return_sequences": config.num_beams,
        "length_penalty": float(config.length_penalty),
        "early_stopping": config.early_stopping,
        "do_sample": config.draws,
    }


BEAM_SEARCH = Method(
    config=BeamSearch,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Scores every row of the tree again, the hypotheses without a cache, and looks "
        "for candidates that are missing; transformers' own generate runs beside it, "
        "but not for groups."
    ),
    self_checks=f"{__package__}.checks:self_checks",
    model_checks=f"{__package__}.model_checks:model_checks",
    step=BeamStep,
    record=SearchRecord,
    rows=lambda config: config.num_beams,
    outcome=_outcome,
    notes=_notes,
    reference=_reference,
)
