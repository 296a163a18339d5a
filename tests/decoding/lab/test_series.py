"""A thousand rolls and every temperature, by arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
import torch

from core.decoding.autoregressive.config import Sampling
from core.decoding.checks.statistics import chi_square
from core.decoding.config import DRAW_METHODS
from core.decoding.lab.series import roll, sweep
from core.decoding.lab.step import distributions, lab_step
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.orders import LLAMA_CPP, TRANSFORMERS
from tests.decoding.lab.scenes import probabilities, random_scene

D = math.sqrt(18.307 * 10 / 2)
SCENE = probabilities(0.5, 0.3, 0.15, 0.047, 0.002, 0.001)


@pytest.mark.parametrize(
    ("bins", "square", "p_value"),
    [
        ([(0.5, 50), (0.5, 50)], 0.0, 1.0),
        # Tabulated: 3.841 at one degree of freedom and 18.307 at ten leave 5 % above them.
        ([(0.5, 59.8), (0.5, 40.2)], 3.8416, 0.05),
        # Eleven bins of 10 expected, one d too full and one d too empty: 2 d^2 / 10.
        ([(1 / 11, 10 + off) for off in (D, -D, *[0] * 9)], 18.307, 0.05),
    ],
)
def test_the_p_value_is_the_tabulated_one(bins, square, p_value) -> None:
    statistic, degrees, p = chi_square(bins)
    assert degrees == len(bins) - 1
    assert statistic == pytest.approx(square, abs=1e-3)
    assert p == pytest.approx(p_value, abs=1e-5)


def test_one_bin_has_nothing_to_test() -> None:
    assert chi_square([(1.0, 1000)]) == (0.0, 0, None)


@pytest.mark.parametrize("xtc", [0.0, 0.5])
@pytest.mark.parametrize("draw", DRAW_METHODS)
def test_the_rolls_are_the_throws_that_follow(draw, xtc) -> None:
    config = Sampling(seed=11, draw=draw, shaping=Shaping(temperature=1.2, xtc_probability=xtc))
    rolls = roll(SCENE, config, TRANSFORMERS, 4, total=60)
    expected = Counter(
        lab_step(SCENE, config, TRANSFORMERS, number).step.token_id for number in range(5, 65)
    )
    counted = {bin_.token_id: bin_.rolls for bin_ in rolls.bins if bin_.token_id is not None}
    assert rolls.first_throw == 5 and rolls.total == 60
    assert all(counted[token] == expected[token] for token in counted)
    assert sum(bin_.rolls for bin_ in rolls.bins) == 60


def test_rare_tokens_share_a_bin_and_every_bin_expects_five() -> None:
    rolls = roll(SCENE, Sampling(seed=1), TRANSFORMERS, 0, total=1000)
    assert [bin_.token_id for bin_ in rolls.bins] == [0, 1, 2, None]
    pooled = rolls.bins[-1]
    assert pooled.tokens == 3 and pooled.prob == pytest.approx(0.05, abs=1e-6)
    assert all(bin_.prob * rolls.total >= 5 for bin_ in rolls.bins)
    assert sum(bin_.prob for bin_ in rolls.bins) == pytest.approx(1, abs=1e-6)
    assert rolls.degrees == 3 and rolls.p_value is not None


@pytest.mark.parametrize("draw", DRAW_METHODS)
def test_fair_dice_pass_and_wrong_probabilities_fail(draw) -> None:
    rolls = roll(SCENE, Sampling(seed=2, draw=draw), TRANSFORMERS, 0)
    assert rolls.p_value is not None and rolls.p_value > 0.001
    tilted = [(p, bin_.rolls) for bin_, p in zip(rolls.bins, (0.4, 0.4, 0.15, 0.05), strict=True)]
    assert (chi_square(tilted)[2] or 0) < 1e-6


def test_rolls_of_a_setting_with_noise_are_tested_against_the_mean_of_their_distributions() -> None:
    shaping = Shaping(xtc_probability=0.5, xtc_threshold=0.2)
    rolls = roll(SCENE, Sampling(seed=3, shaping=shaping), TRANSFORMERS, 0)
    probs = {bin_.token_id: bin_.prob for bin_ in rolls.bins}
    # On about half of the throws XTC removes the likeliest token: 0.3 becomes 0.3 / 0.5.
    uncut = probs[0] / 0.5
    assert 0.45 < uncut < 0.55
    assert probs[1] == pytest.approx(0.3 * uncut + 0.6 * (1 - uncut), abs=1e-6)
    assert rolls.p_value is not None and rolls.p_value > 0.001
    assert roll(SCENE, Sampling(shaping=shaping), TRANSFORMERS, 0, total=0).total == 0


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_sweep_has_the_noise_of_its_throw(number) -> None:
    config = Sampling(seed=3, shaping=Shaping(xtc_probability=0.5, xtc_threshold=0.2))
    swept = sweep(SCENE, config, TRANSFORMERS, number, (1.0,))
    last = distributions(SCENE, config.shaping, TRANSFORMERS, number, config.seed)[-1]
    assert swept.kept == (last.kept,)


def test_a_removed_token_is_in_no_bin() -> None:
    rolls = roll(SCENE, Sampling(seed=2, shaping=Shaping(top_k=2)), TRANSFORMERS, 0)
    assert [bin_.token_id for bin_ in rolls.bins] == [0, 1]


def test_a_stopped_series_counts_what_was_thrown() -> None:
    assert roll(SCENE, Sampling(), TRANSFORMERS, 0, should_stop=lambda: True).total == 0


@pytest.mark.parametrize("order", [TRANSFORMERS, LLAMA_CPP], ids=lambda order: order.key)
def test_a_column_of_the_sweep_is_the_final_distribution_at_its_temperature(order) -> None:
    scene = random_scene(300, seed=8)
    config = Sampling(shaping=Shaping(temperature=0.3, top_p=0.9, min_p=0.02))
    swept = sweep(scene, config, order, 0, (0.0, 0.5, 1.0, 2.0), count=9)
    for at, value in enumerate(swept.temperatures):
        last = distributions(scene, replace(config.shaping, temperature=value), order)[-1]
        ids = torch.tensor([candidate.token_id for candidate in swept.candidates])
        expected = torch.tensor(last.log_probs_of(ids)).exp()
        assert [row[at] for row in swept.probs] == pytest.approx(expected.tolist())
        assert swept.kept[at] == last.kept
        entropy = -sum(p * math.log(p) for p in last.probs.double().tolist() if p > 0)
        assert swept.entropies[at] == pytest.approx(entropy, abs=1e-6)
