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

from ..long_rows import cut_below, highest, ranked
from ..stage import ALONE as _ALONE
from ..stage import StepContext
from .penalties import remove_tokens

# From this length on, finding a threshold is faster than masking the sorted tokens.
_THRESHOLD_FROM = 2048
# Longer rows are cut by their highest logits only, if these certainly suffice.
_PARTIAL_SORT_FROM = 4096
_FEW_FIRST = 256
# Number of tokens that transformers' top-H looks at.
_TOP_H_FIRST = 100
# Added to the range of the logits by min-k's authors, and llama.cpp's bound of a flat tail.
_MIN_K_EPSILON, _FLAT = 1e-8, 1e-6
_PARTIAL_SIZES = (_FEW_FIRST, 4096)
# Bound on the difference of float32 sums of a row in any two orders of addition.
_SUM_ERROR = 1e-5


def top_h(logits: Tensor, share: float, _: StepContext = _ALONE) -> Tensor:
    """Keep the most probable tokens up to a share of the entropy (Potraghloo et al. 2025), of the
    100 highest logits.

    Those beyond the 100 are removed and have no part in the entropy, as in transformers'
    `TopHLogitsWarper`, which always keeps one token, not `min_tokens_to_keep`.
    """
    top, places = torch.topk(logits, min(_TOP_H_FIRST, logits.shape[-1]))
    log_probs = top - torch.logsumexp(top, dim=-1, keepdim=True)
    probs = torch.softmax(log_probs, dim=-1)
    lowest = torch.finfo(log_probs.dtype).min
    entropy = -(log_probs.clamp(min=lowest) * probs).sum(dim=-1, keepdim=True)
    keep = torch.cumsum(-probs * torch.log(probs), dim=-1) <= entropy * share
    keep[..., 0] = True
    nothing = torch.full_like(logits, -math.inf)
    return nothing.scatter_(-1, places, top.masked_fill(~keep, -math.inf))


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


def min_k(logits: Tensor, tau: float, context: StepContext = _ALONE) -> Tensor:
    """Cut the sorted logits at the largest relative decay (l_i - l_{i+1}) / (i * range), and keep
    tau / range tokens at least (Ding et al. 2026, Algorithm 1).

    The first of equal decays counts; tokens tied with the last that is kept survive. A row of equal
    logits keeps all.
    """
    ordered = _descending(logits)
    size = ordered.shape[-1]
    lowest = ordered.masked_fill(ordered == -math.inf, math.inf).amin(dim=-1, keepdim=True)
    scale = ordered[..., :1] - lowest + _MIN_K_EPSILON
    alive = ordered[..., 1:] > -math.inf
    ranks = torch.arange(1, size, dtype=ordered.dtype)
    decays = ((ordered[..., :-1] - ordered[..., 1:]) / (ranks * scale)).where(alive, -1.0)
    cliff = decays.argmax(dim=-1, keepdim=True) + 1 if size > 1 else torch.ones_like(scale).long()
    least = (tau / scale).clamp(max=size).long().clamp(min=context.min_tokens_to_keep)
    count = torch.maximum(cliff, least).clamp(max=size)
    return logits.masked_fill(logits < ordered.gather(-1, count - 1), -math.inf)


def _descending(logits: Tensor) -> Tensor:
    """Return `[..., vocab]` logits by falling value."""
    ordered = (-logits).contiguous()
    ordered.numpy().sort()  # numpy's sort is vectorised; torch's takes ten times as long.
    return -ordered


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


def tail_free(logits: Tensor, z: float, context: StepContext = _ALONE) -> Tensor:
    """Cut the tokens, by falling probability, where the summed absolute second derivative of the
    probabilities passes a share of its total (Bricken 2019).

    As in llama.cpp's `llama_sample_tail_free_impl`, which llama.cpp removed: the first token always
    stays, and two tokens or fewer are left alone. Of tied tokens those with the lowest ids stay.
    """
    size = logits.shape[-1]
    if size <= 2:
        return logits
    ordered = _descending(logits)
    inner = ordered[..., 2:] > -math.inf
    curvature = torch.softmax(ordered.double(), dim=-1).diff(dim=-1).diff(dim=-1).abs_()
    curvature = curvature.where(inner, 0.0)
    total = curvature.sum(dim=-1, keepdim=True)
    flat = inner / inner.sum(dim=-1, keepdim=True).clamp(min=1)
    passed = torch.where(total > _FLAT, curvature / total, flat).cumsum(dim=-1) > z
    passed &= inner
    passed[..., : context.min_tokens_to_keep] = False
    # The number of tokens before the first place at which it passes.
    count = passed.int().argmax(dim=-1, keepdim=True)
    count = torch.where(passed.any(dim=-1, keepdim=True), count, size)
    last = ordered.gather(-1, count - 1)
    above, tied = logits > last, logits == last
    spare = count - above.sum(dim=-1, keepdim=True)
    return logits.masked_fill(~(above | (tied & (tied.cumsum(dim=-1) <= spare))), -math.inf)


def top_a(logits: Tensor, share: float, context: StepContext = _ALONE) -> Tensor:
    """Remove tokens below `share` times the squared highest probability (KoboldAI;
    text-generation-webui's `TopALogitsWarper`).
    """
    probs = torch.softmax(logits, dim=-1)
    highest_prob = probs.amax(dim=-1, keepdim=True)
    floor = highest_prob * highest_prob * share
    return _remove_below(logits, probs, floor, context.min_tokens_to_keep)


def p_less(logits: Tensor, order: int, context: StepContext = _ALONE) -> Tensor:
    """Remove tokens below exp(-H), with the Rényi entropy H of an order (Tan et al. 2025).

    Order 2 is the paper's p-less: the sum of the squared probabilities. Order 1 is Shannon's
    entropy.
    """
    # In float64 and as logarithms: high powers of probabilities are 0 in float32.
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    if order == 1:
        log_floor = (log_probs.exp() * log_probs).nansum(dim=-1, keepdim=True)
    else:
        log_floor = torch.logsumexp(order * log_probs, dim=-1, keepdim=True) / (order - 1)
    return _remove_below(logits, log_probs, log_floor, context.min_tokens_to_keep)


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
