"""Filters: pure functions on logits.

Formulas and ties follow transformers 5.23 (`generation/logits_process.py`, `min_tokens_to_keep` as
there), unless a function names another source. Each function takes logits `[..., vocab]`, the
setting's value and the step's context, and returns logits of the same shape, -inf for removed
tokens. A function has its setting's name.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from core.decoding.shaping.long_rows import cut_below, highest, ranked
from core.decoding.shaping.penalties import remove_tokens
from core.decoding.shaping.stage import ALONE as _ALONE
from core.decoding.shaping.stage import StepContext

# From this length on, finding a threshold is faster than masking the sorted tokens.
_THRESHOLD_FROM = 2048
# Longer rows are cut by their highest logits only, if these certainly suffice.
_PARTIAL_SORT_FROM = 4096
_FEW_FIRST = 256
_PARTIAL_SIZES = (_FEW_FIRST, 4096)
# Bound on the difference of float32 sums of a row in any two orders of addition.
_SUM_ERROR = 1e-5


def top_n_sigma(logits: Tensor, n: float, context: StepContext = _ALONE) -> Tensor:
    """Remove logits below max - n * sigma (Tang et al. 2024); a logit equal to it survives.

    sigma is the population standard deviation of the finite logits, as in llama.cpp's
    `llama_sampler_top_n_sigma_apply`.
    """
    alive = logits > -math.inf
    count = alive.sum(dim=-1, keepdim=True)
    mean = logits.where(alive, 0.0).sum(dim=-1, keepdim=True) / count
    squares = (logits - mean).square().where(alive, 0.0)
    sigma = (squares.sum(dim=-1, keepdim=True) / count).sqrt()
    floor = logits.amax(dim=-1, keepdim=True) - n * sigma
    return _remove_below(logits, logits, floor, context.min_tokens_to_keep)


def top_k(logits: Tensor, k: int, context: StepContext = _ALONE) -> Tensor:
    """Keep the k highest logits, and ties with the k-th."""
    count = min(max(k, context.min_tokens_to_keep), logits.shape[-1])
    if logits.dim() == 1:
        return cut_below(logits, float(highest(logits, count)[0][-1]))
    kth = torch.topk(logits, count)[0][..., -1, None]
    return logits.masked_fill(logits < kth, -math.inf)


def top_p(logits: Tensor, p: float, context: StepContext = _ALONE) -> Tensor:
    """Keep the smallest set of most probable tokens with mass p or more (Holtzman et al. 2020)."""
    if logits.dim() == 1 and len(logits) >= _THRESHOLD_FROM:
        lowest_kept, least = None, context.min_tokens_to_keep
        if least == 1 and len(logits) > _PARTIAL_SORT_FROM:
            lowest_kept = _top_p_threshold_of_first(logits, p)
        if lowest_kept is None:  # Not if tied tokens lie on both sides of the cut.
            ordered = logits.clone()
            ordered.numpy().sort()  # numpy's sort is vectorised; torch's takes ten times as long.
            removed = int(_removed_by_top_p(ordered, p, least).sum())
            if not (removed > 0 and bool(ordered[removed - 1] == ordered[removed])):
                lowest_kept = float(ordered[removed])
        if lowest_kept is not None:
            return cut_below(logits, lowest_kept)
    ordered, order = torch.sort(logits, descending=False)
    remove = _removed_by_top_p(ordered, p, context.min_tokens_to_keep)
    return logits.masked_fill(remove.scatter(-1, order, remove), -math.inf)


def _removed_by_top_p(ordered: Tensor, p: float, min_tokens_to_keep: int) -> Tensor:
    remove = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - p
    remove[..., -min_tokens_to_keep:] = False
    return remove


def _top_p_threshold_of_first(logits: Tensor, p: float) -> float | None:
    """Return the lowest logit that top-p keeps, from a row's highest logits; None if they don't
    suffice.
    """
    log_norm = torch.logsumexp(logits, dim=-1)
    top = highest(logits, _FEW_FIRST)[0]
    probs = (top - log_norm).double().exp()
    before = probs.cumsum(dim=-1) - probs
    cut = int((before < p).sum())
    if cut == len(top):
        return None
    cut = max(cut, 1)
    near = (before[cut - 1 : cut + 1] - p).abs().min() if cut > 1 else (before[cut] - p).abs()
    tied = bool(top[cut - 1] == top[cut])
    return None if tied or near < _SUM_ERROR else float(top[cut - 1])


def min_p(logits: Tensor, share: float, context: StepContext = _ALONE) -> Tensor:
    """Remove tokens below `share` of the highest probability (Nguyen et al. 2024)."""
    probs = torch.softmax(logits, dim=-1)
    remove = probs < share * probs.amax(dim=-1, keepdim=True)
    remove.scatter_(-1, probs.topk(min(context.min_tokens_to_keep, probs.shape[-1])).indices, False)
    return logits.masked_fill(remove, -math.inf)


def typical_p(logits: Tensor, mass: float, context: StepContext = _ALONE) -> Tensor:
    """Keep the tokens whose surprisal is nearest to the entropy (Meister et al. 2023)."""
    log_probs = torch.log_softmax(logits, dim=-1)
    entropy = -(log_probs * log_probs.exp()).nansum(-1, keepdim=True)
    distance = (-log_probs - entropy).abs()
    if logits.dim() == context.min_tokens_to_keep == 1 and logits.shape[-1] > _PARTIAL_SORT_FROM:
        farthest_kept = _typical_threshold(distance, log_probs, mass)
        if farthest_kept is not None:
            return logits.masked_fill(distance > farthest_kept, -math.inf)
    ordered, order = torch.sort(distance, descending=False)
    cumulative = logits.gather(-1, order).softmax(dim=-1).cumsum(dim=-1)
    last = (cumulative < mass).sum(dim=-1, keepdim=True).clamp_(max=ordered.shape[-1] - 1)
    remove = ordered > ordered.gather(-1, last)
    remove[..., : context.min_tokens_to_keep] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -math.inf)


def _typical_threshold(distance: Tensor, log_probs: Tensor, mass: float) -> float | None:
    """Return the largest distance that typical_p keeps; None if the nearest tokens don't
    suffice.
    """
    for size in _PARTIAL_SIZES:
        nearest, order = torch.topk(distance, size, largest=False)
        cumulative = log_probs[order].double().exp().cumsum(dim=-1)
        last = int((cumulative < mass).sum())
        if last == size:
            continue
        near = (cumulative[max(last - 1, 0) : last + 1] - mass).abs().min()
        return None if near < _SUM_ERROR else float(nearest[last])
    return None


def epsilon_cutoff(logits: Tensor, epsilon: float, context: StepContext = _ALONE) -> Tensor:
    """Remove tokens with a probability below epsilon (Hewitt et al. 2022)."""
    probs = torch.softmax(logits, dim=-1)
    return _remove_below(logits, probs, torch.tensor(epsilon), context.min_tokens_to_keep)


def eta_cutoff(logits: Tensor, epsilon: float, context: StepContext = _ALONE) -> Tensor:
    """Remove tokens below min(epsilon, sqrt(epsilon) * exp(-entropy)) (Hewitt et al. 2022)."""
    probs = torch.softmax(logits, dim=-1)
    entropy = torch.special.entr(probs).sum(dim=-1, keepdim=True)
    floor = torch.tensor(epsilon)
    floor = torch.min(floor, floor.sqrt() * torch.exp(-entropy))
    return _remove_below(logits, probs, floor, context.min_tokens_to_keep)


def xtc_probability(logits: Tensor, value: tuple[float, float], context: StepContext) -> Tensor:
    """Remove, with a probability, all tokens at or above a threshold except the least likely of
    them.

    As in llama.cpp's `llama_sampler_xtc_apply`, nothing is removed if too few tokens would remain.
    Of tokens tied for the least likely, one survives: here the one with the highest id.
    """
    probability, threshold = value
    if context.uniform("xtc_probability") >= probability:
        return logits
    likely = int((torch.softmax(logits, dim=-1) >= threshold).sum())
    if int((logits > -math.inf).sum()) - likely + 1 < context.min_tokens_to_keep:
        return logits
    return remove_tokens(logits, ranked(logits, likely).ids[:-1])


def _remove_below(logits: Tensor, level: Tensor, floor: Tensor, min_tokens_to_keep: int) -> Tensor:
    # amax is a hundred times faster than a topk of 1.
    if min_tokens_to_keep == 1:
        spared = logits.amax(dim=-1, keepdim=True)
    else:
        spared = torch.topk(logits, min(min_tokens_to_keep, logits.shape[-1]))[0][..., -1, None]
    return logits.masked_fill((level < floor) & (logits < spared), -math.inf)
