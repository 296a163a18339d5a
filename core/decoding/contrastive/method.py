"""Contrastive search in the registry of methods."""

from __future__ import annotations

from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.method import Method

CONTRASTIVE_SEARCH = Method(
    config=ContrastiveSearch,
    engine="core.decoding.contrastive.engine:generate",
    against_model="Scores the text again in one independent forward pass, and every candidate with "
    "its cosines without a cache; transformers' generate no longer has this method.",
    self_checks="core.decoding.contrastive.checks:self_checks",
    compares=True,
    rows=lambda config: config.contrastive_top_k,
    model_checks="core.decoding.contrastive.model_checks:model_checks",
)
