"""Speculative decoding in the registry of methods."""

from __future__ import annotations

from ...language import N_, Message
from ..errors import ConfigError
from ..method import Method
from ..record.notes import NOT_LOSSLESS, Note
from .config import Speculative
from .sources import SOURCES
from .types import DraftRecord, DraftRound, tokens_and_draft


def require_draft(config: Speculative, draft_id: str | None) -> None:
    """Raise ConfigError if a needed draft model is missing, or an unneeded one is given."""
    if config.source.needs_draft and draft_id is None:
        free = ", ".join(repr(row.name) for row in SOURCES.values() if not row.needs_draft)
        raise ConfigError(
            Message(
                "Speculative decoding needs a draft model: pass draft=..., or set drafter to one "
                "that needs none ({drafters}).",
                drafters=free,
            )
        )
    if not config.source.needs_draft and draft_id is not None:
        raise ConfigError(
            Message(
                "The drafter {drafter!r} needs no draft model, got {draft}: leave it out, "
                "or set drafter to 'model'.",
                drafter=config.drafter,
                draft=draft_id,
            )
        )


def _notes(config: Speculative) -> tuple[Note, ...]:
    if config.lossless:
        return ()
    words = N_("Typical acceptance changes the output: it is not distributed as the target's.")
    return (Note(NOT_LOSSLESS, words),)


SPECULATIVE = Method(
    config=Speculative,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Scores every round again in independent forward passes of the target and, where there is "
        "one, of the draft; where the run is greedy, transformers' own generate runs beside it."
    ),
    self_checks=f"{__package__}.checks.trace_checks:self_checks",
    model_checks=f"{__package__}.checks.model_checks:model_checks",
    step=DraftRound,
    record=DraftRecord,
    rows=lambda _: 2,  # One row of the draft and one of the target.
    outcome=tokens_and_draft,
    notes=_notes,
    require_draft=require_draft,
)
