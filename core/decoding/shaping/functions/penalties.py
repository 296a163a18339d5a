"""Penalties and bans: pure functions on logits, which read the earlier text.

As in `filters`, formulas follow transformers 5.23 unless a function names another source.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from ..repeats import MAX_EXPONENT, repeats
from ..settings.tokens import MAX_LENGTH
from ..stage import StepContext


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


def dry_multiplier(
    logits: Tensor,
    value: tuple[float, float, int, int, Sequence[str]],
    context: StepContext,
) -> Tensor:
    """Subtract multiplier * base ** (length - allowed length) from each token that would continue
    a repeat of that length (Weidmann 2024; llama.cpp's `llama_sampler_dry_apply`).
    """
    multiplier, base, allowed, last_n, breakers = value
    found = repeats(context.ids, allowed, last_n, breakers, context.token_bytes)
    size = logits.shape[-1]
    lowered = [
        (token, -repeat.penalty(multiplier, base, allowed))
        for token, repeat in found.items()
        if token < size
    ]
    return logit_bias(logits, lowered, context)


def no_repeat_ngram_size(logits: Tensor, size: int, context: StepContext) -> Tensor:
    """Remove every token that would complete an n-gram of the earlier text."""
    ids = list(context.ids)
    prefix = ids[len(ids) - size + 1 :] if size > 1 else []
    starts = range(len(ids) - size + 1)
    banned = {ids[at + size - 1] for at in starts if ids[at : at + size - 1] == prefix}
    return remove_tokens(logits, [token for token in banned if token < logits.shape[-1]])


def bad_words(logits: Tensor, sequences: Sequence[tuple[int, ...]], context: StepContext) -> Tensor:
    """Remove every token that would complete one of the sequences; an end-of-sequence token by
    itself is none.
    """
    ids = tuple(context.ids[-MAX_LENGTH:])
    alone = {(token,) for token in context.eos_ids}
    banned = {
        sequence[-1]
        for sequence in sequences
        if sequence not in alone
        and (ids[len(ids) - len(sequence) + 1 :] == sequence[:-1] if len(sequence) > 1 else True)
    }
    return suppress_tokens(logits, sorted(banned), context)


def length_decay(logits: Tensor, value: tuple[float, int], context: StepContext) -> Tensor:
    """Add |logit| * (factor ** n - 1) to the end-of-sequence tokens' logits, with n the number of
    generated tokens beyond the start; one that is removed stays so.
    """
    factor, start = value
    beyond = len(context.ids) - context.prompt_length - start
    tokens = [token for token in context.eos_ids if token < logits.shape[-1]]
    if beyond <= 0 or not tokens:
        return logits
    places = torch.tensor(tokens)
    raised = math.exp(min(beyond * math.log(factor), MAX_EXPONENT)) - 1
    scores = logits[places]
    return logits.index_add(-1, places, (scores.abs() * raised).where(scores > -math.inf, 0.0))


def suppress_tokens(logits: Tensor, token_ids: Sequence[int], _: StepContext) -> Tensor:
    """Remove the given tokens, as far as the row has them."""
    return remove_tokens(logits, [token for token in token_ids if token < logits.shape[-1]])


def begin_suppress_tokens(logits: Tensor, token_ids: Sequence[int], context: StepContext) -> Tensor:
    """Remove the given tokens at the first generated one."""
    first = len(context.ids) == context.prompt_length
    return suppress_tokens(logits, token_ids, context) if first else logits


def remove_tokens(logits: Tensor, token_ids: Sequence[int]) -> Tensor:
    """Remove the given tokens."""
    if not token_ids:
        return logits
    return logits.index_fill(-1, torch.tensor(token_ids), -math.inf)
