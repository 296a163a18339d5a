"""Series of one step: a thousand draws, and every temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from core.decoding.autoregressive.config import Sampling
from core.decoding.checks.statistics import chi_square
from core.decoding.lab.step import StepLogits, candidate_of, distributions, shaper_of
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
    """The draws after draw `number`, counted, and how well they fit the exact distribution."""
    last = distributions(step_logits, config.shaping, order, number, config.seed)[-1]
    vocab = step_logits.model.vocab_size
    generator = generator_at(config.draw, config.seed, number + 1, vocab)
    counts: dict[int, int] = {}
    drawn = 0
    while drawn < total and not should_stop():
        token = draw(last, config.draw, draw_noise(config.draw, generator, vocab)).token_id
        counts[token] = counts.get(token, 0) + 1
        drawn += 1
    bins = _bins(step_logits.model, last, counts, drawn)
    square, degrees, p_value = chi_square([(b.prob, b.rolls) for b in bins])
    return Rolls(config.draw, config.seed, number + 1, drawn, bins, square, degrees, p_value)


def _bins(
    model: Vocabulary, last: Distribution, counts: dict[int, int], total: int
) -> tuple[RollBin, ...]:
    """A bin for each token that expects 5 rolls or more, and one for all the others."""
    order = torch.argsort(last.probs, descending=True, stable=True)
    often = order[: int((last.probs * total >= _LEAST_EXPECTED).sum())].tolist()
    probs = last.probs.double()
    rare = float(probs.sum()) - float(probs[often].sum())
    # The pooled bin too must expect enough: what it lacks comes from the rarest of the others.
    while often and 0 < rare * total < _LEAST_EXPECTED:
        rare += float(probs[often.pop()])
    bins = []
    for place in often:
        token = last.token_id(place)
        bins.append(
            RollBin(token, model.token_text(token), float(probs[place]), counts.get(token, 0))
        )
    pooled = total - sum(b.rolls for b in bins)
    if rare > 0 and last.kept > len(bins):
        bins.append(RollBin(None, "other tokens", rare, pooled, last.kept - len(bins)))
    return tuple(bins)


def sweep(
    step_logits: StepLogits,
    config: Sampling,
    order: Order,
    temperatures: Sequence[float],
    count: int = 12,
    should_stop: Callable[[], bool] = bool,
) -> Sweep:
    """The final distribution at every temperature: the `count` likeliest tokens, and entropy."""
    raw = raw_distribution(step_logits.logits)
    ids = torch.sort(raw.logits, descending=True, stable=True)[1][: min(count, len(raw.logits))]
    columns: list[list[float]] = []
    entropies, counts, tried = [], [], []
    for value in temperatures:
        if should_stop():
            break
        shaping = replace(config.shaping, temperature=value)
        last = shaper_of(shaping, order, config.seed).distributions(
            raw.logits, step_logits.previous_ids, 0, begun=[raw]
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
