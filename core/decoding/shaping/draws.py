"""Picking one token from a distribution; the generator is passed, never global."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from core.decoding.config import DrawMethod
from core.decoding.shaping.long_rows import LONG, first_maximum
from core.decoding.shaping.stages import Distribution

# Most draws fall among these, and finding them takes a fifth of the time of a sort.
_FEW_FIRST = 32
# So many of the likeliest tokens are looked at before the whole vocabulary is sorted.
_TOP_FIRST = (256, 4096)
# A generator's state (5 KB) is kept before each so many draws of noise.
_STATE_EVERY = 8


class Pick(NamedTuple):
    """The drawn token and what decided it.

    `uniform` and `interval` belong to inverse_cdf; `noise` is the Gumbel noise of the whole
    vocabulary, `[vocab]`, of the two methods that add it to the log-probabilities.
    """

    token_id: int
    uniform: float | None = None
    interval: tuple[float, float] | None = None
    noise: Tensor | None = None


def draw_noise(method: DrawMethod, generator: torch.Generator, vocab_size: int) -> Tensor:
    """One step's noise: a uniform number, or an exponential one for each token, `[vocab]`."""
    if method == "inverse_cdf":
        return torch.rand((), generator=generator, dtype=torch.float64)
    # `exponential_` takes -ln(1 - u) of one double after the other; a vector of them is twice as
    # fast. The last bit of the double may differ, so of the float32 for one number in 10^8.
    if vocab_size < LONG or not _is_of_uniform():
        return torch.empty(vocab_size).exponential_(generator=generator)
    uniform = torch.rand(vocab_size, generator=generator, dtype=torch.float64)
    return uniform.neg_().log1p_().neg_().float()


@lru_cache(maxsize=1)
def _is_of_uniform() -> bool:
    """Return True if this build of torch draws exponential numbers so; some let MKL do it."""
    uniform = torch.rand(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    drawn = torch.empty(8).exponential_(generator=torch.Generator().manual_seed(0))
    return torch.allclose(drawn, uniform.neg_().log1p_().neg_().float(), rtol=1e-6, atol=0)


@lru_cache(maxsize=16)
def noise_at(method: DrawMethod, seed: int, index: int, vocab_size: int) -> Tensor:
    """The noise of step `index` of a run with this seed."""
    return draw_noise(method, generator_at(method, seed, index, vocab_size), vocab_size)


def generator_at(method: DrawMethod, seed: int, index: int, vocab_size: int) -> torch.Generator:
    """A generator that draws the noise of step `index` next.

    It draws what comes before from the nearest step whose state was kept.
    """
    states = _states((method, seed, vocab_size))
    start = min(index // _STATE_EVERY, len(states) - 1)
    generator = torch.Generator()
    generator.set_state(states[start])
    for number in range(start * _STATE_EVERY, index):
        draw_noise(method, generator, vocab_size)
        if (number + 1) % _STATE_EVERY == 0:
            states.setdefault((number + 1) // _STATE_EVERY, generator.get_state())
    return generator


@lru_cache(maxsize=8)
def _states(series: tuple[DrawMethod, int, int]) -> dict[int, Tensor]:
    """State i is that before step 8 i; filled in order, by whichever thread comes there first."""
    return {0: torch.Generator().manual_seed(series[1]).get_state()}


def draw(distribution: Distribution, method: DrawMethod, noise: Tensor) -> Pick:
    """The token that the noise of `draw_noise` picks."""
    if method == "inverse_cdf":
        place, interval = place_by_uniform(distribution.probs, uniform := float(noise))
        return Pick(distribution.token_id(place), uniform, interval)
    if method == "multinomial":
        # `torch.multinomial(probs, 1)` to the letter: the argmax of p / E with E exponential.
        # ln(p / E) = ln p - ln E, and -ln E is Gumbel noise: it is the same trick.
        divisors = noise if distribution.ids is None else noise.take(distribution.ids)
        place = first_maximum(distribution.probs / divisors)
        return Pick(distribution.token_id(place), noise=noise.log().neg_())
    return pick_by_gumbel(distribution, -noise.log())


def place_by_uniform(probs: Tensor, uniform: float) -> tuple[int, tuple[float, float]]:
    """Return the place in `[n]` probabilities that a number falls on, and its cumulative interval.

    It is the first place, by falling probability, whose cumulative mass exceeds the number.

    Args:
        uniform: in [0, 1).
    """
    few, places = torch.topk(probs, min(_FEW_FIRST, len(probs)))
    likeliest, low = few.tolist(), 0.0
    for at, value in enumerate(likeliest[:-1]):
        if value == likeliest[at + 1]:
            break  # Ties stand by place, which the sorts below see to.
        if uniform < low + value:
            return int(places[at]), (low, min(low + value, 1.0))
        low += value
    for size in (*_TOP_FIRST, len(probs)):
        # Ties, the last one's too, stand by place.
        if size < len(probs):
            lowest = torch.topk(probs, size)[0][-1]
            first = torch.nonzero(probs >= lowest).squeeze(-1)
            values, order = torch.sort(probs[first], descending=True, stable=True)
            places = first[order]
        else:
            values, places = torch.sort(probs, descending=True, stable=True)
        cumulative = values.double().cumsum(dim=-1)
        at = int(torch.searchsorted(cumulative, uniform, right=True))
        if at < len(places):
            break
    # Rounding may leave the last sum below u: the last token that can be drawn takes the rest.
    at = min(at, int((values > 0).sum()) - 1)
    low = float(cumulative[at - 1]) if at else 0.0
    return int(places[at]), (low, min(float(cumulative[at]), 1.0))


def interval_of(probs: Tensor, place: int) -> tuple[float, float]:
    """The cumulative interval of a place in `[n]` probabilities; see `place_by_uniform`."""
    prob = probs[place]
    tied = probs[:place] == prob
    low = float(probs[probs > prob].double().sum()) + float(prob) * int(tied.sum())
    return low, min(low + float(prob), 1.0)


def pick_by_gumbel(distribution: Distribution, noise: Tensor) -> Pick:
    """The token with the highest ln p + noise, `[vocab]` standard Gumbel (Gumbel 1954)."""
    noise_left = noise if distribution.ids is None else noise.take(distribution.ids)
    place = int(torch.argmax(distribution.logits - distribution.log_norm + noise_left))
    return Pick(distribution.token_id(place), noise=noise)


def noisy_scores(pick: Pick, token_ids: Tensor, log_probs: list[float]) -> list[float | None]:
    """ln p + noise of some tokens; None where a token was removed or nothing was added."""
    if pick.noise is None:
        return [None] * len(log_probs)
    noises = pick.noise.take(token_ids).tolist()
    return [
        None if log_prob == -math.inf else log_prob + noise
        for log_prob, noise in zip(log_probs, noises, strict=True)
    ]
