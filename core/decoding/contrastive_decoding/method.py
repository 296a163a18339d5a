"""Contrastive decoding in the registry of methods."""

from __future__ import annotations

from ...language import N_
from ..errors import ConfigError
from ..method import Method
from ..speculative.types import DraftRecord, tokens_and_draft
from .config import ContrastiveDecoding


def require_draft(_: ContrastiveDecoding, draft_id: str | None) -> None:
    """Raise ConfigError if the draft model is missing."""
    if draft_id is None:
        raise ConfigError(
            N_(
                "Contrastive decoding needs a draft model: pass draft=..., or choose "
                "one on the page."
            )
        )


CONTRASTIVE_DECODING = Method(
    config=ContrastiveDecoding,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Scores the text again in one independent forward pass of the target, reads it "
        "again with the draft and contrasts both anew; transformers' generate lacks "
        "this method."
    ),
    model_checks=f"{__package__}.checks:model_checks",
    record=DraftRecord,
    rows=lambda _: 2,  # One row of the draft and one of the target.
    outcome=tokens_and_draft,
    require_draft=require_draft,
)
