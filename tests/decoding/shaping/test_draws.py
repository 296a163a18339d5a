"""Drawing by arithmetic: the same dice, known distributions, and torch's own multinomial."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from core.decoding.config import DRAW_METHODS, DrawMethod
from core.decoding.shaping import draws
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.draws import (
    Pick,
    draw,
    draw_noise,
)
from core.decoding.shaping.stages import Distribution, raw_distribution
from core.decoding.shaping.step import StepShaper

PROBS = [0.5, 0.1, 0.3, 0.1]
VOCAB = len(PROBS)


def _distribution(probs=PROBS, **knobs):
    return StepShaper(Shaping(**knobs)).distributions(torch.tensor(probs).log(), [], 0)[-1]


def _pick(distribution: Distribution, uniform: float) -> Pick:
    return draw(distribution, "inverse_cdf", torch.tensor(uniform, dtype=torch.float64))


@pytest.mark.parametrize(
    ("uniform", "token", "interval"),
    [
        (0.0, 0, (0, 0.5)),
        (0.49, 0, (0, 0.5)),
        (0.51, 2, (0.5, 0.8)),
        (0.81, 1, (0.8, 0.9)),
        (0.95, 3, (0.9, 1.0)),
        (0.9999999, 3, (0.9, 1.0)),
    ],
)
def test_inverse_cdf_goes_by_falling_probability_then_id(uniform, token, interval) -> None:
    pick = _pick(_distribution(), uniform)
    assert pick.token_id == token
    assert pick.interval == pytest.approx(interval, abs=1e-6)


def test_the_same_dice_pick_another_token_when_a_filter_moves_the_bar() -> None:
    assert _pick(_distribution(), 0.7).token_id == 2
    assert _pick(_distribution(top_k=1), 0.7).token_id == 0


def test_a_large_vocabulary_gives_what_a_full_sort_gives() -> None:
    logits = torch.randn(20_000, generator=torch.Generator().manual_seed(3)).round(decimals=1)
    distribution = raw_distribution(logits)
    probs, order = torch.sort(distribution.probs, descending=True, stable=True)
    cumulative = probs.double().cumsum(0)
    for uniform in [0.0, 1e-5, 0.01, 0.05, 0.3, 0.9, 0.999999]:
        at = min(int(torch.searchsorted(cumulative, uniform, right=True)), len(order) - 1)
        assert _pick(distribution, uniform).token_id == int(order[at])


def _drawn(distribution: Distribution, method: DrawMethod, generator: torch.Generator) -> Pick:
    return draw(distribution, method, draw_noise(method, generator, VOCAB))


def test_multinomial_is_torchs_own_to_the_letter() -> None:
    logits = 2 * torch.randn(500, generator=torch.Generator().manual_seed(5))
    for seed in range(40):
        dice = draw_noise("multinomial", torch.Generator().manual_seed(seed), 500)
        ours = draw(raw_distribution(logits), "multinomial", dice)
        torch.manual_seed(seed)
        assert ours.token_id == int(torch.multinomial(torch.softmax(logits, -1), 1))


@pytest.mark.parametrize("method", DRAW_METHODS)
def test_every_method_draws_from_the_distribution(method) -> None:
    generator, distribution = torch.Generator().manual_seed(11), _distribution(temperature=0.9)
    exact, n = distribution.probs.tolist(), 4000
    counts = Counter(_drawn(distribution, method, generator).token_id for _ in range(n))
    chi_squared = sum((counts[i] - n * p) ** 2 / (n * p) for i, p in enumerate(exact))
    assert chi_squared < 16.27  # 3 degrees of freedom, p = 0.001; the seed is fixed


@pytest.mark.parametrize("method", DRAW_METHODS)
def test_a_removed_token_is_never_drawn(method) -> None:
    generator, distribution = torch.Generator().manual_seed(2), _distribution(top_k=2)
    assert {_drawn(distribution, method, generator).token_id for _ in range(300)} == {0, 2}


def test_gumbel_and_multinomial_agree_on_the_same_dice() -> None:
    distribution = _distribution()
    for seed in range(50):
        dice = torch.Generator().manual_seed(seed)
        state = dice.get_state()
        gumbel = _drawn(distribution, "gumbel", dice)
        picks = [gumbel, _drawn(distribution, "multinomial", dice.set_state(state))]
        assert picks[0].token_id == picks[1].token_id
        assert math.isclose(float(picks[0].noise[0]), float(picks[1].noise[0]))


def test_gumbel_noise_survives_large_logits() -> None:
    distribution = _distribution([0.25, 0.25, 0.25, 0.25, 0.0], temperature=0.001)
    dice = torch.Generator()
    counts = Counter(
        draw(distribution, "gumbel", draw_noise("gumbel", dice.manual_seed(seed), 5)).token_id
        for seed in range(400)
    )
    assert set(counts) == {0, 1, 2, 3}
    assert max(counts.values()) < 140


def test_a_token_without_probability_is_not_drawn_by_rounding() -> None:
    distribution = raw_distribution(torch.tensor([0.1, 0.2, 0.3, -200.0, -300.0]))
    assert _pick(distribution, 1 - 1e-9).token_id in (0, 1, 2)


@pytest.mark.parametrize("method", DRAW_METHODS)
def test_far_throws_are_the_run_s_and_begin_near_the_last(method, monkeypatch) -> None:
    draws._states.cache_clear()
    walking, thrown = torch.Generator().manual_seed(21), []
    for _ in range(64):
        thrown.append(draw_noise(method, walking, 6))
    made = []
    real = draws.draw_noise
    monkeypatch.setattr(draws, "draw_noise", lambda *asked: made.append(1) or real(*asked))
    for index, most in ((60, 61), (61, 8), (59, 8), (7, 8), (63, 8)):
        made.clear()
        dice = draws.noise_at(method, 21, index, 6)
        assert torch.equal(dice, thrown[index])
        assert len(made) <= most


def test_many_exponential_numbers_are_torchs_own_and_leave_its_generator_as_they_do() -> None:
    ours, reference = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
    for _ in range(3):
        expected = torch.empty(50_000).exponential_(generator=reference)
        torch.testing.assert_close(
            draw_noise("multinomial", ours, 50_000), expected, rtol=1.2e-7, atol=0
        )
    assert torch.equal(ours.get_state(), reference.get_state())
