"""Series on one step: a thousand draws, and a temperature sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ...language import N_
from ..autoregressive.config import Sampling
from ..checks.statistics import chi_square, p_value
from ..protocol import Vocabulary
from ..shaping.draws import draw, draw_noise, generator_at
from ..shaping.orders import Order
from ..shaping.stages import Distribution, raw_distribution
from .step import StepLogits, candidate_of
from .types import RollBin, Rolls, Sweep

_LEAST_EXPECTED = 5.0


def roll(
    step_logits: StepLogits,
    config: Sampling,
    order: Order,
    number: int,
    total: int = 1000,
    should_stop: Callable[[], bool] = bool,
) -> Rolls:
    """Count the draws after draw `number`, and test the counts against the exact distribution.

    A stage with its own noise gives the draws different distributions. Then the bins show the mean,
    and each distribution is tested on its own draws: statistics and degrees of freedom are summed.
    """
    model = step_logits.model
    shaper = step_logits.shaper(config.shaping, order, config.seed)
    begun = [raw_distribution(step_logits.logits)]
    stages = step_logits.shaped(shaper, number, begun)
    takes_noise = any(stage.noise is not None for stage in stages)
    generator = generator_at(config.draw, config.seed, number + 1, model.vocab_size)
    groups: dict[object, _Group] = {}
    drawn = 0
    while drawn < total and not should_stop():
        drawn += 1
        if takes_noise:
            stages = step_logits.shaped(shaper, number + drawn, begun)
        last = stages[-1]
        key = (last.kept, last.log_norm)
        group = groups.get(key) or groups.setdefault(key, _Group(_probs(last, model.vocab_size)))
        noise = draw_noise(config.draw, generator, model.vocab_size)
        group.counts[draw(last, config.draw, noise).token_id] += 1
    whole = _Group(_probs(stages[-1], model.vocab_size))
    if drawn:
        shares = [group.exact * (group.counts.total() / drawn) for group in groups.values()]
        whole.exact = torch.stack(shares).sum(dim=0)
        whole.counts = sum((group.counts for group in groups.values()), Counter())
    bins = _bins(model, whole)
    tests = [chi_square([(b.prob, b.rolls) for b in _bins(model, g)]) for g in groups.values()]
    square, degrees = sum(test[0] for test in tests), sum(test[1] for test in tests)
    likelihood = p_value(square, degrees) if degrees else None
    return Rolls(config.draw, config.seed, number + 1, drawn, bins, square, degrees, likelihood)


@dataclass
class _Group:
    """Draws from one distribution: its `[vocab]` probabilities, and the count of each token."""

    exact: Tensor
    counts: Counter[int] = field(default_factory=Counter)


def _probs(last: Distribution, vocab_size: int) -> Tensor:
    """Return a distribution's probabilities over the whole vocabulary."""
    probs = torch.zeros(vocab_size, dtype=torch.float64)
    probs[slice(None) if last.ids is None else last.ids] = last.probs.double()
    return probs


def _bins(model: Vocabulary, group: _Group) -> tuple[RollBin, ...]:
    """Return a bin for each token with 5 or more expected draws, and one for all other tokens."""
    exact, counts, total = group.exact, group.counts, group.counts.total()
    order = torch.argsort(exact, descending=True, stable=True)
    often = order[: int((exact * total >= _LEAST_EXPECTED).sum())].tolist()
    rare = float(exact.sum()) - float(exact[often].sum())
    # The pooled bin needs enough expected draws too: the rarest other bins are added to it.
    while often and 0 < rare * total < _LEAST_EXPECTED:
        rare += float(exact[often.pop()])
    bins = [
        RollBin(token, model.token_text(token), float(exact[token]), counts[token])
        for token in often
    ]
    pooled, others = total - sum(b.rolls for b in bins), int((exact > 0).sum()) - len(bins)
    if rare > 0 and others > 0:
        bins.append(RollBin(None, N_("other tokens"), rare, pooled, others))
    return tuple(bins)


def sweep(
    step_logits: StepLogits,
    config: Sampling,
    order: Order,
    number: int,
    temperatures: Sequence[float],
    count: int = 12,
    should_stop: Callable[[], bool] = bool,
) -> Sweep:
    """Return the final distribution of draw `number` at every temperature.

    Args:
        count: number of most probable tokens to keep.
    """
    raw = raw_distribution(step_logits.logits)
    ids = torch.sort(raw.logits, descending=True, stable=True)[1][: min(count, len(raw.logits))]
    columns: list[list[float]] = []
    entropies, counts, tried = [], [], []
    for value in temperatures:
        if should_stop():
            break
        shaping = replace(config.shaping, temperature=value)
        shaper = step_logits.shaper(shaping, order, config.seed)
        last = step_logits.shaped(shaper, number, [raw])[-1]
        columns.append(torch.tensor(last.log_probs_of(ids)).exp().tolist())
        entropies.append(max(0.0, float(torch.special.entr(last.probs.double()).sum())))
        counts.append(last.kept)
        tried.append(value)
    stages = [raw]
    return Sweep(
        temperatures=tuple(tried),
        candidates=tuple(candidate_of(step_logits, stages, token) for token in ids.tolist()),
        probs=tuple(zip(*columns, strict=True)) if columns else ((),) * len(ids),
        entropies=tuple(entropies),
        kept=tuple(counts),
    )
