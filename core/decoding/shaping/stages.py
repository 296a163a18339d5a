"""From logits to the distribution drawn from, one named stage after the other.

The formulas, their order and their treatment of ties are those of transformers 5.23
(`generation/logits_process.py`; `least` is its `min_tokens_to_keep`). Every filter is a pure
function that returns logits of the same shape `[..., vocab]`, with -inf where a token is removed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.decoding.errors import DecodingError
from core.decoding.shaping.config import Shaping

# Rows longer than this are cut by looking at their top only, where that is certain to be enough.
_PARTIAL_SORT_FROM = 4096
_PARTIAL_SIZES = (256, 4096)
# float32 sums of a whole row differ by less than this, in whatever order they are added.
_SUM_ERROR = 1e-5

NO_DISTRIBUTION = (
    "The model returned logits that are no distribution (NaN or infinite); "
    "try float32, or check the model's weights."
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A named distribution over the tokens that are still in.

    Args:
        name: of the stage that made it.
        ids: `[kept]` ascending token ids that `logits` belong to; None for the whole vocabulary.
        logits: `[kept]`, -inf where a token is out but was not dropped from the tensor.
        probs: `[kept]`, their softmax.
        log_norm: the log-sum-exp of `logits`, so that ln p = logits - log_norm.
        kept: how many tokens are in.
        removed_mass: what this stage took from the distribution before it.
    """

    name: str
    ids: Tensor | None
    logits: Tensor
    probs: Tensor
    log_norm: float
    kept: int
    removed_mass: float = 0.0

    def token_id(self, position: int) -> int:
        """The token at a position of `logits`."""
        return position if self.ids is None else int(self.ids[position])

    def log_probs_of(self, token_ids: Tensor) -> list[float]:
        """ln p of some tokens, `[n]` ids; -inf where a token was removed."""
        if self.ids is None:
            found = self.logits[token_ids]
        else:
            places = torch.searchsorted(self.ids, token_ids).clamp_(max=len(self.ids) - 1)
            found = self.logits[places].masked_fill(self.ids[places] != token_ids, -math.inf)
        log_norm = self.log_norm
        return [logit - log_norm for logit in found.tolist()]


def repetition_penalty(logits: Tensor, penalty: float, seen: Tensor) -> Tensor:
    """Divide positive and multiply negative logits of seen tokens (CTRL, Keskar et al. 2019).

    Args:
        logits: `[vocab]`.
        seen: `[n]` ids of prompt and generated tokens; a token counts once.
    """
    seen = seen[seen < logits.shape[-1]]
    scores = logits[seen]
    return logits.scatter(-1, seen, torch.where(scores < 0, scores * penalty, scores / penalty))


def no_repeat_ngram(logits: Tensor, size: int, previous_ids: Sequence[int]) -> Tensor:
    """Remove every token that would complete an n-gram that stands in `previous_ids` already."""
    banned = repeating_tokens(size, previous_ids)
    return remove_tokens(logits, [token for token in banned if token < logits.shape[-1]])


def repeating_tokens(size: int, previous_ids: Sequence[int]) -> list[int]:
    """The tokens that followed the current last `size - 1` tokens anywhere before."""
    ids = list(previous_ids)
    prefix = ids[len(ids) - size + 1 :] if size > 1 else []
    starts = range(len(ids) - size + 1)
    return sorted({ids[at + size - 1] for at in starts if ids[at : at + size - 1] == prefix})


def remove_tokens(logits: Tensor, token_ids: Sequence[int]) -> Tensor:
    """Remove the given tokens."""
    if not token_ids:
        return logits
    return logits.index_fill(-1, torch.tensor(token_ids), -math.inf)


def temperature(logits: Tensor, value: float) -> Tensor:
    """Divide by the temperature, above 0."""
    return logits / value


def top_k(logits: Tensor, k: int, least: int = 1) -> Tensor:
    """Keep the k highest; ties with the k-th survive."""
    kth = torch.topk(logits, min(max(k, least), logits.shape[-1]))[0][..., -1, None]
    return logits.masked_fill(logits < kth, -math.inf)


def top_p(logits: Tensor, p: float, least: int = 1) -> Tensor:
    """Keep the smallest set of most probable tokens with mass p or more (Holtzman et al. 2020)."""
    if logits.dim() == least == 1 and logits.shape[-1] > _PARTIAL_SORT_FROM:
        lowest_kept = _top_p_threshold(logits, p)
        if lowest_kept is not None:
            return logits.masked_fill(logits < lowest_kept, -math.inf)
    ordered, order = torch.sort(logits, descending=False)
    remove = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - p
    remove[..., -least:] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -math.inf)


def _top_p_threshold(logits: Tensor, p: float) -> float | None:
    """The lowest logit that top-p keeps, from a row's top alone; None where that is not certain."""
    log_norm = torch.logsumexp(logits, dim=-1)
    for size in _PARTIAL_SIZES:
        top = torch.topk(logits, size)[0]
        probs = (top - log_norm).double().exp()
        before = probs.cumsum(dim=-1) - probs
        cut = int((before < p).sum())
        if cut == size:
            continue
        cut = max(cut, 1)
        near = (before[cut - 1 : cut + 1] - p).abs().min() if cut > 1 else (before[cut] - p).abs()
        tied = bool(top[cut - 1] == top[cut])
        return None if tied or near < _SUM_ERROR else float(top[cut - 1])
    return None


def min_p(logits: Tensor, share: float, least: int = 1) -> Tensor:
    """Remove tokens below `share` of the highest probability (Nguyen et al. 2024)."""
    probs = torch.softmax(logits, dim=-1)
    remove = probs < share * probs.amax(dim=-1, keepdim=True)
    remove.scatter_(-1, probs.topk(min(least, probs.shape[-1])).indices, False)
    return logits.masked_fill(remove, -math.inf)


def typical_p(logits: Tensor, mass: float, least: int = 1) -> Tensor:
    """Keep the tokens whose surprisal is nearest to the entropy (Meister et al. 2023)."""
    log_probs = torch.log_softmax(logits, dim=-1)
    entropy = -(log_probs * log_probs.exp()).nansum(-1, keepdim=True)
    distance = (-log_probs - entropy).abs()
    if logits.dim() == least == 1 and logits.shape[-1] > _PARTIAL_SORT_FROM:
        farthest_kept = _typical_threshold(distance, log_probs, mass)
        if farthest_kept is not None:
            return logits.masked_fill(distance > farthest_kept, -math.inf)
    ordered, order = torch.sort(distance, descending=False)
    cumulative = logits.gather(-1, order).softmax(dim=-1).cumsum(dim=-1)
    last = (cumulative < mass).sum(dim=-1, keepdim=True).clamp_(max=ordered.shape[-1] - 1)
    remove = ordered > ordered.gather(-1, last)
    remove[..., :least] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -math.inf)


def _typical_threshold(distance: Tensor, log_probs: Tensor, mass: float) -> float | None:
    """The largest distance that typical_p keeps; None where the nearest tokens don't tell."""
    for size in _PARTIAL_SIZES:
        nearest, order = torch.topk(distance, size, largest=False)
        cumulative = log_probs[order].double().exp().cumsum(dim=-1)
        last = int((cumulative < mass).sum())
        if last == size:
            continue
        near = (cumulative[max(last - 1, 0) : last + 1] - mass).abs().min()
        return None if near < _SUM_ERROR else float(nearest[last])
    return None


def epsilon_cutoff(logits: Tensor, epsilon: float, least: int = 1) -> Tensor:
    """Remove tokens with a probability below epsilon (Hewitt et al. 2022)."""
    return _remove_below(logits, torch.softmax(logits, dim=-1), torch.tensor(epsilon), least)


def eta_cutoff(logits: Tensor, epsilon: float, least: int = 1) -> Tensor:
    """Remove tokens below min(epsilon, sqrt(epsilon) * exp(-entropy)) (Hewitt et al. 2022)."""
    probs = torch.softmax(logits, dim=-1)
    entropy = torch.special.entr(probs).sum(dim=-1, keepdim=True)
    floor = torch.tensor(epsilon)
    floor = torch.min(floor, floor.sqrt() * torch.exp(-entropy))
    return _remove_below(logits, probs, floor, least)


def _remove_below(logits: Tensor, probs: Tensor, floor: Tensor, least: int) -> Tensor:
    # amax is a hundred times as fast as a topk of 1.
    if least == 1:
        spared = logits.amax(dim=-1, keepdim=True)
    else:
        spared = torch.topk(logits, min(least, logits.shape[-1]))[0][..., -1, None]
    return logits.masked_fill((probs < floor) & (logits < spared), -math.inf)


def raw_distribution(logits: Tensor) -> Distribution:
    """The model's own distribution, `[vocab]` logits.

    Raises:
        DecodingError: the logits hold NaN or +inf, or nothing but -inf.
    """
    probs, log_norm = _normalise(logits)
    if math.isnan(log_norm):
        raise DecodingError(NO_DISTRIBUTION)
    ruled_out = float(logits.min()) == -math.inf
    kept = _count(logits > -math.inf) if ruled_out else logits.shape[-1]
    return Distribution("raw", None, logits, probs, log_norm, kept)


def _count(mask: Tensor) -> int:
    """How many are True; as int32, since the default int64 takes seven times as long."""
    return int(mask.sum(dtype=torch.int32))


def _normalise(logits: Tensor) -> tuple[Tensor, float]:
    """Probabilities, and the log-sum-exp to float32's relative (not absolute) precision."""
    probs = torch.softmax(logits, dim=-1)
    highest = float(probs.max())
    return probs, float(logits.max()) - math.log(highest) if highest > 0 else math.nan


def penalty_names(shaping: Shaping, length: int) -> list[str]:
    """Which of the penalties act after `length` tokens; `min_new_tokens` aside."""
    names = ["repetition_penalty"] if shaping.repetition_penalty != 1 else []
    size = shaping.no_repeat_ngram_size
    return names + ["no_repeat_ngram_size"] * (0 < size <= length)


def penalties(
    shaping: Shaping, previous_ids: Sequence[int], held_back: Sequence[int]
) -> list[tuple[str, Callable[[Tensor], Tensor]]]:
    """The acts on the logits of the whole vocabulary, in order.

    Args:
        previous_ids: prompt and generated tokens.
        held_back: end-of-sequence ids while `min_new_tokens` is not reached, else empty.
    """
    acts: list[tuple[str, Callable[[Tensor], Tensor]]] = []
    names = penalty_names(shaping, len(previous_ids))
    if "repetition_penalty" in names:
        seen = torch.tensor(sorted(set(previous_ids)))
        penalty = shaping.repetition_penalty
        acts.append(("repetition_penalty", lambda x: repetition_penalty(x, penalty, seen)))
    if "no_repeat_ngram_size" in names:
        size = shaping.no_repeat_ngram_size
        acts.append(("no_repeat_ngram_size", lambda x: no_repeat_ngram(x, size, previous_ids)))
    if held_back:
        acts.append(("min_new_tokens", lambda x: remove_tokens(x, held_back)))
    return acts


def warpers(shaping: Shaping, least: int = 1) -> list[tuple[str, Callable[[Tensor], Tensor]]]:
    """Temperature and the filters that are switched on, in order; only where something is drawn.

    Args:
        least: how many tokens every filter leaves at least.
    """
    table: list[tuple[str, bool, Callable[[Tensor], Tensor]]] = [
        (
            "temperature",
            shaping.temperature not in (0, 1),
            lambda x: temperature(x, shaping.temperature),
        ),
        ("top_k", shaping.top_k > 0, lambda x: top_k(x, shaping.top_k, least)),
        ("top_p", shaping.top_p < 1, lambda x: top_p(x, shaping.top_p, least)),
        ("min_p", shaping.min_p > 0, lambda x: min_p(x, shaping.min_p, least)),
        ("typical_p", shaping.typical_p < 1, lambda x: typical_p(x, shaping.typical_p, least)),
        (
            "epsilon_cutoff",
            shaping.epsilon_cutoff > 0,
            lambda x: epsilon_cutoff(x, shaping.epsilon_cutoff, least),
        ),
        (
            "eta_cutoff",
            shaping.eta_cutoff > 0,
            lambda x: eta_cutoff(x, shaping.eta_cutoff, least),
        ),
    ]
    return [(name, act) for name, active, act in table if active]


# These acts move mass between tokens and remove none.
RESCALING = {"repetition_penalty", "temperature"}
# These ban a few tokens: a mask is cheaper than the list of the many that stay.
_BANS = {"no_repeat_ngram_size", "min_new_tokens"}
_SORTING = {"top_p", "typical_p"}


def shape(
    start: Distribution,
    acts: Sequence[tuple[str, Callable[[Tensor], Tensor]]],
    vocab_size: int | None = None,
) -> list[Distribution]:
    """Apply the acts in order and keep every distribution on the way, `start` first.

    Args:
        vocab_size: where `start` is not over the whole vocabulary any more.

    Raises:
        DecodingError: nothing is left (every token banned by penalties).
    """
    stages, size = [start], vocab_size or len(start.logits)
    for name, act in acts:
        stages.append(_stage_after(stages[-1], name, _act(stages[-1], name, act, size)))
    return stages


def _act(
    before: Distribution, name: str, act: Callable[[Tensor], Tensor], vocab_size: int
) -> Tensor:
    """The act's logits; where tied tokens might straddle a cut, over the whole vocabulary.

    Which of two tied tokens a sort puts first depends on the length of the row, and transformers
    sorts the whole one.
    """
    if name not in _SORTING or before.ids is None or not _has_ties(before.logits):
        return act(before.logits)
    row = torch.full((vocab_size,), -math.inf).scatter_(0, before.ids, before.logits)
    return act(row)[before.ids]


def _has_ties(logits: Tensor) -> bool:
    return bool((torch.sort(logits)[0].diff() == 0).any())


def _stage_after(before: Distribution, name: str, logits: Tensor) -> Distribution:
    probs, log_norm = _normalise(logits)
    if math.isnan(log_norm):
        raise DecodingError(
            f"No token is left after {name}: it bans every token that the model can emit; lower it."
        )
    if name in RESCALING:
        return Distribution(name, before.ids, logits, probs, log_norm, before.kept)
    alive = logits > -math.inf
    kept = _count(alive)
    # Two sums over the same tokens may differ by a rounding, which is no mass.
    had = before.log_norm if kept < before.kept else log_norm
    removed_mass = max(0.0, -math.expm1(log_norm - had))
    if name in _BANS:
        return Distribution(name, before.ids, logits, probs, log_norm, kept, removed_mass)
    keep = torch.nonzero(alive).squeeze(-1)
    ids = keep if before.ids is None else before.ids[keep]
    return Distribution(name, ids, logits[keep], probs[keep], log_norm, kept, removed_mass)


def only(before: Distribution, position: int) -> Distribution:
    """Greedy as a stage: the one-hot distribution on one position of `before.logits`."""
    ids = torch.tensor([before.token_id(position)])
    logit = before.logits[position : position + 1]
    removed_mass = max(0.0, -math.expm1(float(logit) - before.log_norm))
    return Distribution("argmax", ids, logit, torch.ones(1), float(logit), 1, removed_mass)
