"""Samplers that read the state which earlier steps left; pure functions on logits `[vocab]`."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..long_rows import ranked
from ..settings.states import start_of_adaptive, start_of_mirostat
from ..stage import StepContext

# Number of tokens from which mirostat 1 estimates the distribution's shape, as in llama.cpp.
_FIRST = 100
# Adaptive-p's highest logit, sharpness and width, as in llama.cpp.
_PEAK, _SHARPNESS, _WIDTH = 5.0, 10.0, 0.3


def mirostat(logits: Tensor, value: tuple[int, float, float], context: StepContext) -> Tensor:
    """Remove the tokens that mirostat's mu rules out (Basu et al. 2021).

    As in llama.cpp: version 2 removes tokens with a surprise above mu bits; version 1 keeps a
    number of tokens, which it computes from mu and Zipf's exponent. The likeliest token stays. Of
    tied tokens version 1 keeps those with the lowest ids.
    """
    mu = context.states.get("mirostat", start_of_mirostat(value))
    if value[0] == 2:
        surprise = -torch.log_softmax(logits, dim=-1) / math.log(2)
        least = min(context.min_tokens_to_keep, len(logits))
        spared = logits >= torch.topk(logits, least)[0][-1]
        return logits.masked_fill((surprise > mu) & ~spared, -math.inf)
    count = max(_count_by_zipf(logits, mu), context.min_tokens_to_keep)
    kept = ranked(logits, count).places
    return torch.full_like(logits, -math.inf).scatter_(0, kept, logits[kept])


def _count_by_zipf(logits: Tensor, mu: float) -> int:
    """Return the number of tokens that mirostat 1 keeps: k = (e 2^mu / (1 - n^-e))^(1/s), with
    Zipf's exponent s of the likeliest tokens, e = s - 1, and n tokens in the vocabulary.
    """
    size = len(logits)
    top = torch.topk(logits, min(_FIRST, size))[0].double()
    top = top[top > -math.inf]
    if len(top) < 2:
        return 1
    ranks = torch.arange(1, len(top) + 1, dtype=torch.float64).log()
    steps = ranks.diff()
    exponent = float((steps * -top.diff()).sum() / steps.square().sum())
    if exponent <= 0:
        return size
    excess = exponent - 1
    reach = -math.expm1(-excess * math.log(size)) / excess if excess else math.log(size)
    log_count = (mu * math.log(2) - math.log(reach)) / exponent
    return max(1, int(math.exp(min(log_count, math.log(size)))))


def adaptive_target(logits: Tensor, value: tuple[float, float], context: StepContext) -> Tensor:
    """Give each token a logit that falls with the distance of its probability from a goal: the
    target, corrected by the average probability of the chosen tokens so far.

    As in llama.cpp's `llama_sampler_adaptive_p_apply`: peak - sharpness * d^2 / (1 + d), with d the
    distance in widths.
    """
    target = value[0]
    average = context.states.get("adaptive_target", start_of_adaptive(value))
    goal = min(max(2 * target - average, 0.0), 1.0)
    away = (torch.softmax(logits, dim=-1) - goal).abs() / _WIDTH
    shaped = _PEAK - _SHARPNESS * away.square() / (1 + away)
    return shaped.where(logits > -math.inf, -math.inf)
