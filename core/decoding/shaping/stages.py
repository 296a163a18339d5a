"""From logits to the distribution drawn from, one named stage after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from core.decoding.errors import DecodingError
from core.decoding.shaping import filters
from core.decoding.shaping.config import (
    ACTING,
    BANS,
    RESCALING,
    SETTINGS,
)
from core.decoding.shaping.long_rows import LONG, Ranking, count_above, places_left
from core.decoding.shaping.stage import StageFunction


class Processor(NamedTuple):
    """A stage at a step: its name, its function and the function's arguments after the logits."""

    name: str
    act: Callable[..., Tensor]
    arguments: tuple[Any, ...] = ()


# The functions carry their settings' names.
ACTS: dict[str, StageFunction] = {name: getattr(filters, name) for name in ACTING}

# Stages that need their step's context, and so one row at a time.
READS_STEP = {
    name for name, act in ACTS.items() if SETTINGS[name].reads_step or isinstance(act, type)
}

_FEW = 128  # So many are looked up sooner one by one than by operations on tensors.

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
        tail: the mass of tokens that are in but that nobody knows (`known`); `probs` are the rest.
        noise: the stage's own uniform number, where it took one.
        exact: whether `tail` is known; else it is the most that may be.
    """

    name: str
    ids: Tensor | None
    logits: Tensor
    probs: Tensor
    log_norm: float
    kept: int
    removed_mass: float = 0.0
    tail: float = 0.0
    exact: bool = True
    noise: float | None = None

    def token_id(self, position: int) -> int:
        """The token at a position of `logits`."""
        return position if self.ids is None else int(self.ids[position])

    def log_probs_of(self, token_ids: Tensor) -> list[float]:
        """ln p of some tokens, `[n]` ids; -inf where a token was removed."""
        log_norm = self.log_norm
        if self.ids is None:
            return [logit - log_norm for logit in self.logits.take(token_ids).tolist()]
        if len(self.ids) <= _FEW:
            few: dict[int, float] = dict(zip(self.ids.tolist(), self.logits.tolist(), strict=True))
            return [few.get(token, -math.inf) - log_norm for token in token_ids.tolist()]
        places = torch.searchsorted(self.ids, token_ids).clamp_(max=len(self.ids) - 1)
        logits = self.logits[places].masked_fill(self.ids[places] != token_ids, -math.inf)
        return [logit - log_norm for logit in logits.tolist()]


def raw_distribution(logits: Tensor, top: Ranking | None = None) -> Distribution:
    """The model's own distribution, `[vocab]` logits.

    Args:
        top: the highest of them, where they are known already.

    Raises:
        DecodingError: the logits hold NaN or +inf, or nothing but -inf.
    """
    probs, log_norm = _normalise(logits, top)
    if math.isnan(log_norm):
        raise DecodingError(NO_DISTRIBUTION)
    ruled_out = float(logits.amin()) == -math.inf
    count = int(count_above(logits, -math.inf)) if ruled_out else logits.shape[-1]
    return Distribution("raw", None, logits, probs, log_norm, count)


def _normalise(logits: Tensor, top: Ranking | None = None) -> tuple[Tensor, float]:
    """Probabilities, and the log-sum-exp to float32's relative (not absolute) precision."""
    probs = torch.softmax(logits, dim=-1)
    if top is not None and top.ids:
        highest, logit = float(probs[top.ids[0]]), top.logits[0]
    else:
        # A maximum along a dimension takes half as long as one over all of a tensor.
        highest, logit = float(probs.amax(dim=-1)), float(logits.amax(dim=-1))
    return probs, logit - math.log(highest) if highest > 0 else math.nan


def shape(
    start: Distribution,
    processors: Sequence[Processor],
    vocab_size: int | None = None,
) -> list[Distribution]:
    """Apply the processors in order and keep every distribution on the way, `start` first.

    Args:
        vocab_size: where `start` is not over the whole vocabulary any more.

    Raises:
        DecodingError: nothing is left (every token banned by penalties).
    """
    stages, size = [start], vocab_size or len(start.logits)
    for name, act, arguments in processors:
        before = stages[-1]
        if before.ids is None or not _needs_all(name, before.logits):
            logits = act(before.logits, *arguments)
        else:
            # Which of two tied tokens a sort puts first depends on the length of the row, and
            # transformers sorts the whole one. A stage that reads the step may look for ids.
            row = torch.full((size,), -math.inf).scatter_(0, before.ids, before.logits)
            logits = act(row, *arguments).take(before.ids)
        stages.append(_stage_after(before, name, logits))
    return stages


def _needs_all(name: str, logits: Tensor) -> bool:
    """Return True if a stage needs the whole row where some tokens are out already."""
    return name in ACTS and (name in READS_STEP or (SETTINGS[name].sorts and _has_ties(logits)))


def _has_ties(logits: Tensor) -> bool:
    if len(logits) <= _FEW:
        return len(set(logits.tolist())) < len(logits)
    return bool((torch.sort(logits)[0].diff() == 0).any())


def _stage_after(before: Distribution, name: str, logits: Tensor) -> Distribution:
    cuts = name not in RESCALING and name not in BANS
    # Of a long row the few that stay are normalised alone.
    keep = places_left(logits) if cuts and len(logits) >= LONG else None
    if keep is not None:
        logits = logits.take(keep)  # A third of what an index takes.
    probs, log_norm = _normalise(logits) if len(logits) else (logits, math.nan)
    if math.isnan(log_norm):
        raise DecodingError(
            f"No token is left after {name}: it bans every token that the model can emit; lower it."
        )
    if name in RESCALING:
        return Distribution(name, before.ids, logits, probs, log_norm, before.kept)
    if cuts and keep is None:
        keep = places_left(logits)
        logits, probs = logits.take(keep), probs.take(keep)
    # A mask is cheaper than the list of the many that a ban leaves.
    count = int(count_above(logits, -math.inf)) if keep is None else len(keep)
    # Two sums over the same tokens may differ by a rounding, which is no mass.
    had = before.log_norm if count < before.kept else log_norm
    removed_mass = max(0.0, -math.expm1(log_norm - had))
    ids = before.ids
    if keep is not None:
        ids = keep if ids is None else ids.take(keep)
    return Distribution(name, ids, logits, probs, log_norm, count, removed_mass)


def only(before: Distribution, position: int) -> Distribution:
    """Greedy as a stage: the one-hot distribution on one position of `before.logits`."""
    ids = torch.tensor([before.token_id(position)])
    logit = before.logits[position : position + 1]
    removed_mass = max(0.0, -math.expm1(float(logit) - before.log_norm))
    return Distribution("argmax", ids, logit, torch.ones(1), float(logit), 1, removed_mass)
