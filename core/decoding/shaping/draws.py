"""Draw of one token from a distribution; the generator is always an argument, never global."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from ..config import DrawMethod
from .long_rows import LONG, first_maximum
from .stages import Distribution

# Most draws fall among the most probable tokens; selecting this many takes a fifth of a sort's
# time.
_FEW_FIRST = 32
# Numbers of most probable tokens that are tried before the whole vocabulary is sorted.
_TOP_FIRST = (256, 4096)
# Number of draws between two stored states of a generator (5 KB each).
_STATE_EVERY = 8


class Pick(NamedTuple):
    """The drawn token, and the numbers that decided the draw.

    `uniform` and `interval` belong to inverse_cdf. `noise` is the Gumbel noise of the vocabulary,
    `[vocab]`, of the two methods that add it to the log-probabilities.
    """

    token_id: int
    uniform: float | None = None
    interval: tuple[float, float] | None = None
    noise: Tensor | None = None


def draw_noise(method: DrawMethod, generator: torch.Generator, vocab_size: int) -> Tensor:
    """Return one step's noise: a uniform number, or an exponential number for each token,
    `[vocab]`.
    """
    if method == "inverse_cdf":
        return torch.rand((), generator=generator, dtype=torch.float64)
    # `exponential_` computes -ln(1 - u) for one double at a time; a vectorised logarithm is twice
    # as fast. The double's last bit may differ, and so the float32 of one number in 10^8.
    if vocab_size < LONG or not _is_of_uniform():
        return torch.empty(vocab_size).exponential_(generator=generator)
    uniform = torch.rand(vocab_size, generator=generator, dtype=torch.float64)
    return uniform.neg_().log1p_().neg_().float()


@lru_cache(maxsize=1)
def _is_of_uniform() -> bool:
    """Return True if this build of torch draws exponential numbers this way; some builds use
    MKL.
    """
    uniform = torch.rand(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    drawn = torch.empty(8).exponential_(generator=torch.Generator().manual_seed(0))
    return torch.allclose(drawn, uniform.neg_().log1p_().neg_().float(), rtol=1e-6, atol=0)


@lru_cache(maxsize=16)
def noise_at(method: DrawMethod, seed: int, index: int, vocab_size: int) -> Tensor:
    """Return the noise of step `index` in a run with this seed."""
    return draw_noise(method, generator_at(method, seed, index, vocab_size), vocab_size)


def generator_at(method: DrawMethod, seed: int, index: int, vocab_size: int) -> torch.Generator:
    """Return a generator whose next draw is the noise of step `index`.

    It starts at the nearest stored state, and draws the noise between that state and the step.
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
    """Return the stored states: state i precedes step 8 i. Any thread may add states, in order."""
    return {0: torch.Generator().manual_seed(series[1]).get_state()}


def draw(distribution: Distribution, method: DrawMethod, noise: Tensor) -> Pick:
    """Return the token that the noise from `draw_noise` picks."""
    if method == "inverse_cdf":
        place, interval = place_by_uniform(distribution.probs, uniform := float(noise))
        return Pick(distribution.token_id(place), uniform, interval)
    if method == "multinomial":
        # Exactly `torch.multinomial(probs, 1)`: the argmax of p / E with exponential E. ln(p / E) =
        # ln p - ln E, and -ln E is Gumbel noise, so this is the Gumbel-max trick.
        divisors = noise if distribution.ids is None else noise.take(distribution.ids)
        place = first_maximum(distribution.probs / divisors)
        return Pick(distribution.token_id(place), noise=noise.log().neg_())
    return pick_by_gumbel(distribution, -noise.log())


def place_by_uniform(probs: Tensor, uniform: float) -> tuple[int, tuple[float, float]]:
    """Return the index in `[n]` probabilities that a uniform number falls on, and its cumulative
    interval.

    It is the first index, by falling probability, whose cumulative mass exceeds the number.

    Args:
        uniform: a number in [0, 1).
    """
    few, places = torch.topk(probs, min(_FEW_FIRST, len(probs)))
    likeliest, low = few.tolist(), 0.0
    for at, value in enumerate(likeliest[:-1]):
        if value == likeliest[at + 1]:
            break  # Ties are ordered by index, as by the sorts below.
        if uniform < low + value:
            return int(places[at]), (low, min(low + value, 1.0))
        low += value
    for size in (*_TOP_FIRST, len(probs)):
        # Ties are ordered by index, including ties with the last one.
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
    # Rounding may leave the last sum below u; then the last token with a probability is drawn.
    at = min(at, int((values > 0).sum()) - 1)
    low = float(cumulative[at - 1]) if at else 0.0
    return int(places[at]), (low, min(float(cumulative[at]), 1.0))


def interval_of(probs: Tensor, place: int) -> tuple[float, float]:
    """Return the cumulative interval of an index in `[n]` probabilities; see `place_by_uniform`."""
    prob = probs[place]
    tied = probs[:place] == prob
    low = float(probs[probs > prob].double().sum()) + float(prob) * int(tied.sum())
    return low, min(low + float(prob), 1.0)


def pick_by_gumbel(distribution: Distribution, noise: Tensor) -> Pick:
    """Return the token with the highest ln p + noise, with `[vocab]` standard Gumbel noise (Gumbel
    1954).
    """
    noise_left = noise if distribution.ids is None else noise.take(distribution.ids)
    place = int(torch.argmax(distribution.logits - distribution.log_norm + noise_left))
    return Pick(distribution.token_id(place), noise=noise)


def noisy_scores(pick: Pick, token_ids: Tensor, log_probs: list[float]) -> list[float | None]:
    """Return ln p + noise of some tokens; None for a removed token, or if no noise was added."""
    if pick.noise is None:
        return [None] * len(log_probs)
    noises = pick.noise.take(token_ids).tolist()
    return [
        None if log_prob == -math.inf else log_prob + noise
        for log_prob, noise in zip(log_probs, noises, strict=True)
    ]
