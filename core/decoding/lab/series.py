"""Series of one step: a thousand draws, and every temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from core.decoding.autoregressive.config import Sampling
from core.decoding.checks.statistics import chi_square
from core.decoding.lab.step import StepLogits, candidate_of, shaper_of
from core.decoding.lab.types import RollBin, Rolls, Sweep
from core.decoding.protocol import Vocabulary
from core.decoding.shaping.draws import draw, draw_noise, generator_at
from core.decoding.shaping.orders import Order
from core.decoding.shaping.stages import Distribution, raw_distribution

_LEAST_EXPECTED = 5.0


def roll(
    step_logits: StepLogits,
    config: Sampling,
    order: Order,
    number: int,
    total: int = 1000,
    should_stop: Callable[[], bool] = bool,
) -> Rolls:
    """Count the draws after draw `number`, and test them against the exact distribution.

    Where a stage takes noise, each draw has its own distribution: the exact one is their mean.
    """
    model, logits, ids = step_logits
    shaper = shaper_of(config.shaping, order, config.seed)
    begun = [raw_distribution(logits)]
    stages = shaper.distributions(logits, ids, number, begun=begun)
    takes_noise = any(stage.noise is not None for stage in stages)
    generator = generator_at(config.draw, config.seed, number + 1, model.vocab_size)
    exact = torch.zeros(model.vocab_size, dtype=torch.float64)
    counts: dict[int, int] = {}
    drawn = 0
    while drawn < total and not should_stop():
        drawn += 1
        if takes_noise:
            stages = shaper.distributions(logits, ids, number + drawn, begun=begun)
            _add(exact, stages[-1])
        noise = draw_noise(config.draw, generator, model.vocab_size)
        token = draw(stages[-1], config.draw, noise).token_id
        counts[token] = counts.get(token, 0) + 1
    if takes_noise and drawn:
        exact /= drawn
    else:
        _add(exact, stages[-1])
    bins = _bins(model, exact, counts, drawn)
    square, degrees, p_value = chi_square([(b.prob, b.rolls) for b in bins])
    return Rolls(config.draw, config.seed, number + 1, drawn, bins, square, degrees, p_value)


def _add(total: Tensor, one: Distribution) -> None:
    """Add a distribution's probabilities to `total`, `[vocab]`."""
    total[slice(None) if one.ids is None else one.ids] += one.probs


def _bins(
    model: Vocabulary, exact: Tensor, counts: dict[int, int], total: int
) -> tuple[RollBin, ...]:
    """Return a bin for each token that expects 5 rolls or more, and one for all the others.

    Args:
        exact: `[vocab]` probabilities.
    """
    order = torch.argsort(exact, descending=True, stable=True)
    often = order[: int((exact * total >= _LEAST_EXPECTED).sum())].tolist()
    rare = float(exact.sum()) - float(exact[often].sum())
    # The pooled bin too must expect enough: what it lacks comes from the rarest of the others.
    while often and 0 < rare * total < _LEAST_EXPECTED:
        rare += float(exact[often.pop()])
    bins = [
        RollBin(token, model.token_text(token), float(exact[token]), counts.get(token, 0))
        for token in often
    ]
    pooled, others = total - sum(b.rolls for b in bins), int((exact > 0).sum()) - len(bins)
    if rare > 0 and others > 0:
        bins.append(RollBin(None, "other tokens", rare, pooled, others))
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
        count: how many of the likeliest tokens are kept.
    """
    raw = raw_distribution(step_logits.logits)
    ids = torch.sort(raw.logits, descending=True, stable=True)[1][: min(count, len(raw.logits))]
    columns: list[list[float]] = []
    entropies, counts, tried = [], [], []
    for value in temperatures:
        if should_stop():
            break
        shaping = replace(config.shaping, temperature=value)
        last = shaper_of(shaping, order, config.seed).distributions(
            raw.logits, step_logits.previous_ids, number, begun=[raw]
        )[-1]
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
