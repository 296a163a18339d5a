"""Stages from the logits to the final distribution, applied one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...language import N_, Message
from ..errors import DecodingError
from .config import (
    ACTING,
    BANS,
    CONTRASTS,
    RESCALING,
    SETTINGS,
)
from .functions import (
    constraint,
    filters,
    guidance,
    penalties,
    states,
    temperatures,
    watermarks,
)
from .long_rows import LONG, Ranking, count_above, places_left
from .stage import SecondLogits, StageFunction, TokenScores


class Processor(NamedTuple):
    """A stage at a step: its name, its function, and the function's arguments after the logits."""

    name: str
    act: Callable[..., Tensor]
    arguments: tuple[Any, ...] = ()


# The functions have their settings' names.
FUNCTIONS = (constraint, penalties, temperatures, filters, states, guidance, watermarks)
ACTS: dict[str, StageFunction] = {
    name: next(getattr(module, name) for module in FUNCTIONS if hasattr(module, name))
    for name in ACTING
}

# Stages that read the step's context, and so take one row at a time.
READS_STEP = {
    name for name, act in ACTS.items() if SETTINGS[name].reads_step or isinstance(act, type)
}

_FEW = 128  # Up to this number, separate lookups are faster than tensor operations.

NO_DISTRIBUTION = N_(
    "The model returned logits that are no distribution (NaN or infinite); try "
    "float32, or check the model's weights."
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A named distribution over the tokens that are not removed.

    Args:
        name: name of the stage that made it.
        ids: `[kept]` ascending token ids of `logits`; None for the whole vocabulary.
        logits: `[kept]`; -inf for a removed token that is still in the tensor.
        probs: `[kept]`; softmax of the logits.
        log_norm: log-sum-exp of `logits`, so that ln p = logits - log_norm.
        kept: number of tokens that are not removed.
        removed_mass: mass that this stage removed from the previous distribution.
        tail: mass of unremoved tokens that the server does not name (`known`); `probs` hold the
            others.
        noise: the stage's own uniform number, if it used one.
        state: the number that the sampler took over from the step before, if it has one.
        exact: whether `tail` is exact; otherwise it is an upper bound.
        record: the detector's scores of a watermark, or the logits of a second forward.
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
    state: float | None = None
    record: TokenScores | SecondLogits | None = None

    def token_id(self, position: int) -> int:
        """Return the token at a position of `logits`."""
        return position if self.ids is None else int(self.ids[position])

    def log_probs_of(self, token_ids: Tensor) -> list[float]:
        """Return ln p for `[n]` token ids; -inf for a removed token."""
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
    """Return the model's own distribution, given `[vocab]` logits.

    Args:
        top: the highest logits, if known already.

    Raises:
        DecodingError: the logits hold NaN or +inf, or only -inf.
    """
    probs, log_norm = _normalise(logits, top)
    if math.isnan(log_norm):
        raise DecodingError(NO_DISTRIBUTION)
    ruled_out = float(logits.amin()) == -math.inf
    count = int(count_above(logits, -math.inf)) if ruled_out else logits.shape[-1]
    return Distribution("raw", None, logits, probs, log_norm, count)


def _normalise(logits: Tensor, top: Ranking | None = None) -> tuple[Tensor, float]:
    """Return the probabilities, and the log-sum-exp with float32's relative precision."""
    probs = torch.softmax(logits, dim=-1)
    if top is not None and top.ids:
        highest, logit = float(probs[top.ids[0]]), top.logits[0]
    else:
        # A maximum along a dimension takes half the time of one over the whole tensor.
        highest, logit = float(probs.amax(dim=-1)), float(logits.amax(dim=-1))
    return probs, logit - math.log(highest) if highest > 0 else math.nan


def shape(
    start: Distribution,
    processors: Sequence[Processor],
    vocab_size: int | None = None,
) -> list[Distribution]:
    """Apply the processors in order and return all distributions, `start` first.

    Args:
        vocab_size: size of the vocabulary, if `start` doesn't cover all of it.

    Raises:
        DecodingError: no token is left (penalties banned all).
    """
    stages, size = [start], vocab_size or len(start.logits)
    for name, act, arguments in processors:
        before = stages[-1]
        if before.ids is None or not _needs_all(name, before.logits):
            logits = act(before.logits, *arguments)
        else:
            # The order of ties after a sort depends on the row's length, and transformers sorts the
            # whole row. A stage that reads the step may need ids.
            row = torch.full((size,), -math.inf).scatter_(0, before.ids, before.logits)
            logits = act(row, *arguments).take(before.ids)
        stages.append(_stage_after(before, name, logits))
    return stages


def _needs_all(name: str, logits: Tensor) -> bool:
    """Return True if a stage needs the whole row even after tokens were removed."""
    return name in ACTS and (name in READS_STEP or (SETTINGS[name].sorts and _has_ties(logits)))


def _has_ties(logits: Tensor) -> bool:
    if len(logits) <= _FEW:
        return len(set(logits.tolist())) < len(logits)
    return bool((torch.sort(logits)[0].diff() == 0).any())


def _stage_after(before: Distribution, name: str, logits: Tensor) -> Distribution:
    cuts = name not in RESCALING and name not in BANS
    # In a long row only the few remaining tokens are normalised.
    keep = places_left(logits) if cuts and len(logits) >= LONG else None
    if keep is not None:
        logits = logits.take(keep)  # Takes a third of the time of indexing.
    probs, log_norm = _normalise(logits) if len(logits) else (logits, math.nan)
    if math.isnan(log_norm):
        raise DecodingError(
            Message(
                "No token is left after {name}: it bans every token that the model can "
                "emit; lower it.",
                name=name,
            )
        )
    if name in CONTRASTS:
        return _contrasted(before, name, logits, probs, log_norm)
    if name in RESCALING:
        return Distribution(name, before.ids, logits, probs, log_norm, before.kept)
    if cuts and keep is None:
        keep = places_left(logits)
        logits, probs = logits.take(keep), probs.take(keep)
    # A mask is cheaper than a list of the many tokens that a ban leaves.
    count = int(count_above(logits, -math.inf)) if keep is None else len(keep)
    # Two sums over the same tokens may differ by rounding, which is no removed mass.
    had = before.log_norm if count < before.kept else log_norm
    removed_mass = max(0.0, -math.expm1(log_norm - had))
    ids = before.ids
    if keep is not None:
        ids = keep if ids is None else ids.take(keep)
    return Distribution(name, ids, logits, probs, log_norm, count, removed_mass)


def _contrasted(
    before: Distribution, name: str, logits: Tensor, probs: Tensor, log_norm: float
) -> Distribution:
    """Return the stage of a contrast, which moves mass between tokens and may remove some."""
    keep = places_left(logits)
    if len(keep) >= before.kept:
        return Distribution(name, before.ids, logits, probs, log_norm, before.kept)
    removed_mass = max(0.0, 1 - float(before.probs.take(keep).double().sum()))
    ids = keep if before.ids is None else before.ids.take(keep)
    parts = ids, logits.take(keep), probs.take(keep)
    return Distribution(name, *parts, log_norm, len(keep), removed_mass)


def only(before: Distribution, position: int) -> Distribution:
    """Return the stage of greedy decoding: a one-hot distribution at one position of
    `before.logits`.
    """
    ids = torch.tensor([before.token_id(position)])
    logit = before.logits[position : position + 1]
    removed_mass = max(0.0, -math.expm1(float(logit) - before.log_norm))
    return Distribution("argmax", ids, logit, torch.ones(1), float(logit), 1, removed_mass)
