"""Candidates of a contrastive search step, and their scores from hidden states."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from ...language import Message
from ..errors import DecodingError
from ..protocol import Context, HiddenContext, LanguageModel, offers
from ..record.compared import Compared
from ..shaping.stages import Distribution
from .config import ContrastiveSearch


def require_hidden(context: Context, model: LanguageModel) -> HiddenContext:
    """Return the context if it gives hidden states.

    Raises:
        DecodingError: it gives none.
    """
    if not offers(context, HiddenContext):
        raise DecodingError(
            Message(
                "{model} doesn't give its hidden states, which contrastive search "
                "compares; choose another method or model.",
                model=model.model_id,
            )
        )
    return context


def most_probable(distribution: Distribution, count: int) -> list[int]:
    """Return at most `count` ids of a distribution over the vocabulary, ties by id, without removed
    ones.
    """
    values, ids = torch.sort(distribution.logits, descending=True, stable=True)
    alive = int((values[:count] > -math.inf).sum())
    token_ids: list[int] = ids[:alive].tolist()
    return token_ids


def directions(hidden: Tensor) -> Tensor:
    """Return hidden states `[..., width]` scaled to length 1: the product of two is their
    cosine.
    """
    return F.normalize(hidden, dim=-1)


def degeneration(new: Tensor, before: Tensor) -> list[float]:
    """Return each candidate's degeneration penalty: its largest cosine with any token before it.

    Args:
        new: directions `[candidates, width]`.
        before: directions `[tokens, width]`.
    """
    cosines: list[float] = torch.mm(new, before.t()).amax(dim=-1).tolist()
    return cosines


def contrast(
    model: LanguageModel,
    config: ContrastiveSearch,
    distribution: Distribution,
    ids: Sequence[int],
    penalties: Sequence[float],
) -> tuple[Compared, ...]:
    """Return the candidates with their scores (Su et al. 2022, equation 5)."""
    probs, alpha = distribution.probs[list(ids)].tolist(), config.penalty_alpha
    return tuple(
        Compared(token_id, model.token_text(token_id), prob, penalty, score(alpha, prob, penalty))
        for token_id, prob, penalty in zip(ids, probs, penalties, strict=True)
    )


def score(alpha: float, prob: float, penalty: float) -> float:
    """Return a candidate's score; the candidate with the highest score is emitted."""
    return (1 - alpha) * prob - alpha * penalty


def winner(contrasted: Sequence[Compared]) -> int:
    """Return the index of the highest score; of equal scores, that of the most probable token."""
    return max(range(len(contrasted)), key=lambda at: contrasted[at].score)
