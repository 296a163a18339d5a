"""Penalties and bans: pure functions on logits, which read the earlier text.

As in `filters`, formulas follow transformers 5.23 unless a function names another source.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from core.decoding.shaping.stage import StepContext


def logit_bias(logits: Tensor, biases: Sequence[tuple[int, float]], _: StepContext) -> Tensor:
    """Add numbers to single tokens' logits (as OpenAI; transformers' `sequence_bias` with single
    tokens).
    """
    added = [pair for pair in biases if pair[0] < logits.shape[-1]]
    places = torch.tensor([token for token, _ in added], dtype=torch.long)
    values = torch.tensor([bias for _, bias in added], dtype=logits.dtype)
    return logits.index_add(-1, places, values)


def repetition_penalty(logits: Tensor, penalty: float, context: StepContext) -> Tensor:
    """Divide positive logits of seen tokens by the penalty, and multiply negative ones (CTRL,
    Keskar et al. 2019).

    A token counts once, in the prompt or the generated text.
    """
    size = logits.shape[-1]
    seen = torch.tensor([token for token in {*context.ids} if token < size], dtype=torch.long)
    scores = logits[seen]
    return logits.scatter(-1, seen, torch.where(scores < 0, scores * penalty, scores / penalty))


def frequency_penalty(logits: Tensor, penalty: float, context: StepContext) -> Tensor:
    """Subtract the penalty times a token's number of occurrences in the generated text (OpenAI's
    API; vLLM's `apply_penalties`).
    """
    counts = _generated(context, logits.shape[-1])
    return logit_bias(logits, [(token, -penalty * n) for token, n in counts.items()], context)


def presence_penalty(logits: Tensor, penalty: float, context: StepContext) -> Tensor:
    """Subtract the penalty from tokens that are in the generated text (OpenAI's API; vLLM's
    `apply_penalties`).
    """
    counts = _generated(context, logits.shape[-1])
    return logit_bias(logits, [(token, -penalty) for token in counts], context)


def _generated(context: StepContext, size: int) -> Counter[int]:
    """Return the tokens of the generated text, and how often each occurs in it."""
    return Counter(token for token in context.ids[context.prompt_length :] if token < size)


def no_repeat_ngram_size(logits: Tensor, size: int, context: StepContext) -> Tensor:
    """Remove every token that would complete an n-gram of the earlier text."""
    ids = list(context.ids)
    prefix = ids[len(ids) - size + 1 :] if size > 1 else []
    starts = range(len(ids) - size + 1)
    banned = {ids[at + size - 1] for at in starts if ids[at : at + size - 1] == prefix}
    return remove_tokens(logits, [token for token in banned if token < logits.shape[-1]])


def remove_tokens(logits: Tensor, token_ids: Sequence[int]) -> Tensor:
    """Remove the given tokens."""
    if not token_ids:
        return logits
    return logits.index_fill(-1, torch.tensor(token_ids), -math.inf)
