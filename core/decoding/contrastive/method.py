"""Contrastive search in the registry of methods."""

from __future__ import annotations

from ...language import N_
from ..method import Method
from .config import ContrastiveSearch

CONTRASTIVE_SEARCH = Method(
    config=ContrastiveSearch,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Scores the text again in one independent forward pass, and every candidate "
        "with its cosines without a cache; transformers' generate no longer has this "
        "method."
    ),
    self_checks=f"{__package__}.checks:self_checks",
    compares=True,
    rows=lambda config: config.contrastive_top_k,
    model_checks=f"{__package__}.model_checks:model_checks",
)
