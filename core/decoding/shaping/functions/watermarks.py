"""Watermarks: functions that favour the tokens that a key picks, and the scores of a detector.

Formulas, hashes and random numbers follow transformers 5.23 on a CPU bit by bit
(`WatermarkLogitsProcessor`, `SynthIDTextWatermarkLogitsProcessor`). As there, SynthID reads the
generated text alone, and the green list reads the prompt too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import torch
from torch import Tensor

from ..stage import StepContext, TokenScores

# Bias, share, key, scheme and width of the context.
GreenList: TypeAlias = tuple[float, float, int, str, int]
# Number of layers, keys, length of the n-gram, and number of remembered contexts.
SynthId: TypeAlias = tuple[int, tuple[int, ...], int, int]

_TABLE_SIZE = 1_000_003
# Number of likeliest tokens that selfhash tries.
_TRIED = 40
_G_TABLE_SIZE, _G_TABLE_SEED = 2**16, 0
_MULTIPLIER, _INCREMENT = 6364136223846793005, 1


def watermark_bias(logits: Tensor, value: GreenList, context: StepContext) -> Tensor:
    """Add the bias to the logits of green tokens (Kirchenbauer et al. 2023)."""
    bias, ratio, key, scheme, width = value
    size = logits.shape[-1]
    ids = list(context.ids[-width:])  # A run appends to its list before the step is recorded.

    def score(token_id: int) -> float:
        return float(is_green([*ids, token_id], size, value))

    if scheme == "selfhash":
        tried = logits.sort(dim=-1, descending=True)[1][:_TRIED].tolist()
        green = torch.tensor([token for token in tried if score(token)], dtype=torch.long)
    else:
        green = _green_list(_seed(ids, key, scheme, width), size, ratio)
    shaped = logits.clone()
    shaped[green] = shaped[green] + bias
    scores = torch.zeros(size).index_fill_(0, green, 1.0)
    context.keep("watermark_bias", TokenScores(scores, score))
    return shaped


def is_green(text: Sequence[int], size: int, value: GreenList) -> bool:
    """Return whether the last token of a text is green after the tokens before it."""
    _, ratio, key, scheme, width = value
    seen = text if scheme == "selfhash" else text[:-1]
    return bool((_green_list(_seed(seen, key, scheme, width), size, ratio) == text[-1]).any())


def _seed(text: Sequence[int], key: int, scheme: str, width: int) -> int:
    if scheme == "selfhash":
        last, table = torch.tensor(list(text[-width:])), _permutation(key)
        hashes = table[last % _TABLE_SIZE] + 1
        return int((key * hashes * hashes[-1]).min()) % (2**64 - 1)
    return key * text[-1] % (2**64 - 1)


@lru_cache(maxsize=4)
def _permutation(key: int) -> Tensor:
    generator = torch.Generator().manual_seed(key)
    return torch.randperm(_TABLE_SIZE, generator=generator)


@lru_cache(maxsize=128)
def _green_list(seed: int, size: int, ratio: float) -> Tensor:
    """Return the ids of the green tokens out of a vocabulary."""
    order = torch.randperm(size, generator=torch.Generator().manual_seed(seed))
    return order[: int(size * ratio)].clone()


def synthid_depth(logits: Tensor, value: SynthId, context: StepContext) -> Tensor:
    """Let tokens play a tournament in each layer (Dathathri et al. 2024, two tokens in each match).

    A context that stood before an earlier step leaves the logits as they are. A probability that
    rounds to 0 gets the lowest finite logit, as in transformers, where it was not removed before.
    """
    depth, keys, ngram, history = value
    text = context.ids[context.prompt_length :]
    hashes = _context_hashes(text, ngram, history)
    values = _g_values(int(hashes[-1]), logits.shape[-1], keys[:depth])
    scores = values.float().mean(dim=-1)
    context.keep("synthid_depth", TokenScores(scores, lambda token_id: float(scores[token_id])))
    # Before that many steps, transformers' history holds zeros.
    unused = len(text) < history and int(hashes[-1]) == 0
    if unused or bool((hashes[:-1] == hashes[-1]).any()):
        return logits
    # Rows of a batch, as in transformers, so that sums add in the same order.
    probs = torch.softmax(logits[None], dim=1)
    for layer in range(values.shape[-1]):
        g_values = values[None, :, layer]
        mass = (g_values * probs).sum(dim=1, keepdim=True)
        probs = probs * (1 + g_values - mass)
    log_probs = torch.log(probs)[0]
    lowest = torch.finfo(log_probs.dtype).min
    finite = torch.where(torch.isfinite(log_probs), log_probs, lowest)
    return finite.masked_fill(logits == -math.inf, -math.inf)


def g_score(text: Sequence[int], value: SynthId) -> float:
    """Return the mean g-value of a text's last token over the layers."""
    depth, keys, ngram, _ = value
    start = torch.ones((), dtype=torch.long)
    before = _accumulate(start, torch.tensor(list(text[-ngram:-1])))
    values = _g_table()[
        _accumulate(
            _accumulate(before, torch.tensor(text[-1:]))[None], torch.tensor(keys[:depth])[:, None]
        )
        % _G_TABLE_SIZE
    ]
    return float(values.float().mean())


def _context_hashes(text: Sequence[int], ngram: int, history: int) -> Tensor:
    """Return the hashes of the last contexts of a text, that of the next token last."""
    padded = [*[0] * (ngram - 1), *text][-(history + ngram - 1) :]
    contexts = torch.tensor(padded).unfold(0, ngram - 1, 1)
    return _accumulate(torch.ones(len(contexts), dtype=torch.long), contexts)


def _accumulate(hashed: Tensor, data: Tensor) -> Tensor:
    """Hash the numbers along the last dimension onto hashes (a linear congruential generator)."""
    for at in range(data.shape[-1]):
        hashed = (hashed + data[..., at]) * _MULTIPLIER + _INCREMENT
    return hashed


@lru_cache(maxsize=1)
def _g_table() -> Tensor:
    generator = torch.Generator().manual_seed(_G_TABLE_SEED)
    return torch.randint(low=0, high=2, size=(_G_TABLE_SIZE,), generator=generator)


@lru_cache(maxsize=2)
def _g_values(context_hash: int, size: int, keys: tuple[int, ...]) -> Tensor:
    """Return the g-values `[vocab, depth]` of every token after a context."""
    hashed = _accumulate(torch.tensor(context_hash), torch.arange(size)[:, None])
    layers = _accumulate(hashed[:, None], torch.tensor(keys)[:, None])
    return _g_table()[layers % _G_TABLE_SIZE]
