"""The candidates of a step of contrastive search, and what their hidden states make of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.errors import DecodingError
from core.decoding.protocol import Context, HiddenContext, LanguageModel, offers
from core.decoding.record.compared import Compared
from core.decoding.shaping.stages import Distribution


def require_hidden(context: Context, model: LanguageModel) -> HiddenContext:
    """The context, known to give hidden states.

    Raises:
        DecodingError: it gives none.
    """
    if not offers(context, HiddenContext):
        raise DecodingError(
            f"{model.model_id} doesn't give its hidden states, which contrastive search compares; "
            "choose another method or model."
        )
    return context


def most_probable(distribution: Distribution, count: int) -> list[int]:
    """At most so many ids of a distribution over the vocabulary, ties by id; removed ones never."""
    values, ids = torch.sort(distribution.logits, descending=True, stable=True)
    alive = int((values[:count] > -math.inf).sum())
    token_ids: list[int] = ids[:alive].tolist()
    return token_ids


def directions(hidden: Tensor) -> Tensor:
    """Hidden states `[..., width]` at length 1, so that a product of two is their cosine."""
    return F.normalize(hidden, dim=-1)


def degeneration(new: Tensor, before: Tensor) -> list[float]:
    """The largest cosine of each candidate and any token before it.

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
    """The candidates with their scores (Su et al. 2022, equation 5)."""
    probs, alpha = distribution.probs[list(ids)].tolist(), config.penalty_alpha
    return tuple(
        Compared(token_id, model.token_text(token_id), prob, penalty, score(alpha, prob, penalty))
        for token_id, prob, penalty in zip(ids, probs, penalties, strict=True)
    )


def score(alpha: float, prob: float, penalty: float) -> float:
    """Scores of the candidates; the highest is emitted."""
    return (1 - alpha) * prob - alpha * penalty


def winner(contrasted: Sequence[Compared]) -> int:
    """The place of the highest score; of equal ones the most probable token's."""
    return max(range(len(contrasted)), key=lambda at: contrasted[at].score)
