"""Stages that contrast the model's logits with those of a second forward."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..stage import StepContext


def guidance_scale(logits: Tensor, value: tuple[float, str], context: StepContext) -> Tensor:
    """Return scale * (ln p - ln p_negative) + ln p_negative (classifier-free guidance, Sanchez et
    al. 2023).

    As transformers' `UnbatchedClassifierFreeGuidanceLogitsProcessor`. A token that either forward
    rules out keeps its logit.
    """
    scale, _ = value
    (second,) = context.second("guidance_scale")
    context.keep("guidance_scale", second)
    scores = torch.log_softmax(logits, dim=-1)
    others = torch.log_softmax(second.logits, dim=-1)
    guided = scale * (scores - others) + others
    return torch.where((scores == -math.inf) | (others == -math.inf), scores, guided)


def dola_layers(logits: Tensor, value: tuple[str, float], context: StepContext) -> Tensor:
    """Return ln p - ln q of the plausible tokens, with q of the layer whose Jensen-Shannon
    divergence from p is the largest (DoLa, Chuang et al. 2024).

    A layer's logits are the head's, without the last norm, as in transformers' `dola_layers`.
    """
    _, alpha = value
    layers = context.second("dola_layers")
    divergences = [jensen_shannon(logits, layer.logits) for layer in layers]
    chosen = layers[divergences.index(max(divergences))]
    context.keep("dola_layers", chosen)
    scores = torch.log_softmax(logits, dim=-1)
    contrasted = scores - torch.log_softmax(chosen.logits, dim=-1)
    return _plausible(scores, contrasted, alpha)


def contrastive_beta(logits: Tensor, value: tuple[float, float], context: StepContext) -> Tensor:
    """Return (1 + beta) ln p_target - beta ln p_draft of the plausible tokens (contrastive
    decoding, Li et al. 2023, with the weights of O'Brien and Lewis 2023).

    A token that the draft rules out keeps its ln p_target.
    """
    beta, alpha = value
    (second,) = context.second("contrastive_beta")
    context.keep("contrastive_beta", second)
    scores = torch.log_softmax(logits, dim=-1)
    others = torch.log_softmax(second.logits, dim=-1)
    contrasted = (1 + beta) * scores - beta * others
    contrasted = torch.where(others == -math.inf, scores, contrasted)
    return _plausible(scores, contrasted, alpha)


def jensen_shannon(logits: Tensor, others: Tensor) -> float:
    """Return the Jensen-Shannon divergence of two `[vocab]` distributions, nats."""
    p, q = (torch.softmax(row.double(), dim=-1) for row in (logits, others))
    between = (p + q) / 2
    entropies = (torch.special.entr(row).sum() for row in (between, p, q))
    middle, first, second = (float(entropy) for entropy in entropies)
    return middle - (first + second) / 2


def _plausible(scores: Tensor, contrasted: Tensor, alpha: float) -> Tensor:
    """Remove the tokens below a share of the likeliest one's probability (Li et al. 2023)."""
    floor = scores.amax(dim=-1, keepdim=True) + math.log(alpha)
    return contrasted.masked_fill(scores < floor, -math.inf)
