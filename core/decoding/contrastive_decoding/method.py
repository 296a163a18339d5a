"""Contrastive decoding in the registry of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.decoding.contrastive_decoding.config import ContrastiveDecoding
from core.decoding.errors import ConfigError
from core.decoding.method import Method
from core.decoding.record.steps import RunTokens, Step, emitted_tokens
from core.decoding.speculative.types import DraftRecord


def require_draft(_: ContrastiveDecoding, draft_id: str | None) -> None:
    """Raise ConfigError if the draft model is missing."""
    if draft_id is None:
        raise ConfigError(
            "Contrastive decoding needs a draft model: pass draft=..., or choose one on the page."
        )


def _outcome(steps: Sequence[Step], _: ContrastiveDecoding, draft: Any) -> RunTokens:
    record = DraftRecord(draft.model_id, draft.revision, draft.dtype) if draft else DraftRecord()
    return RunTokens(emitted_tokens(steps).token_ids, record)


CONTRASTIVE_DECODING = Method(
    config=ContrastiveDecoding,
    engine="core.decoding.contrastive_decoding.engine:generate",
    against_model="Scores the text again in one independent forward pass of the target, reads it "
    "again with the draft and contrasts both anew; transformers' generate lacks this method.",
    model_checks="core.decoding.contrastive_decoding.checks:model_checks",
    record=DraftRecord,
    rows=lambda _: 2,  # One row of the draft and one of the target.
    outcome=_outcome,
    require_draft=require_draft,
)
