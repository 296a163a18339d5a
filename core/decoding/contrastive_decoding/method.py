"""Contrastive decoding in the registry of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...language import N_
from ..errors import ConfigError
from ..method import Method
from ..record.steps import RunTokens, Step, emitted_tokens
from ..speculative.types import DraftRecord
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


def _outcome(steps: Sequence[Step], _: ContrastiveDecoding, draft: Any) -> RunTokens:
    record = DraftRecord(draft.model_id, draft.revision, draft.dtype) if draft else DraftRecord()
    return RunTokens(emitted_tokens(steps).token_ids, record)


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
    outcome=_outcome,
    require_draft=require_draft,
)
