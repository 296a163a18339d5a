"""`StepShaper` equals the acts one after the other, to the last bit: stages, rows and picks."""

from __future__ import annotations

import math
import random

import pytest
import torch
from torch import Tensor

from core import BeamSearch, Greedy, Sampling, Shaping
from core.decoding.autoregressive.engine import Picker, shaper_of
from core.decoding.beam.candidates import shaper_of as beam_shaper_of
from core.decoding.shaping.config import PENALTIES, SETTINGS
from core.decoding.shaping.draws import draw, noise_at
from core.decoding.shaping.orders import ORDERS
from core.decoding.shaping.stages import Distribution
from core.decoding.shaping.step import StepShaper
from core.decoding.speculative.distributions import PositionShaper
from tests.decoding.shaping.plain_step import PlainShaper
from tests.decoding.shaping.shapings import random_settings
from tests.depth import cases

EOS = (0, 5)


class _Words:
    """A vocabulary of a size, with two end-of-sequence tokens."""

    eos_ids = frozenset(EOS)

    def __init__(self, size: int) -> None:
        self.vocab_size = size

    def token_bytes(self, token_id: int) -> bytes:
        return str(token_id).encode()


def _scene(seed: int, size: int, rows: int = 1) -> tuple[Shaping, Tensor, list[list[int]]]:
    """Random settings, logits with ties, and a text for each row."""
    dice = random.Random(seed)
    values = random_settings(dice, SETTINGS, 0.4)
    if dice.random() < 0.3:
        values["logit_bias"] = ((dice.randrange(size), 4.0), (dice.randrange(size), -100.0))
    torch.manual_seed(seed)
    logits = torch.randn(rows, size) * 4
    if seed % 2:
        logits = logits.mul(2).round().div(2)  # many ties
    ids = [[dice.randrange(size // 4) for _ in range(12 + row)] for row in range(rows)]
    return Shaping(**values), logits, ids


def _whole(stage: Distribution, size: int) -> Tensor:
    """A stage's logits over the whole vocabulary, -inf where a token is out."""
    if stage.ids is None:
        return stage.logits
    return torch.full((size,), -math.inf).scatter_(0, stage.ids, stage.logits)


def _see_equal(stages: list[Distribution], plain: list[tuple[str, Tensor]]) -> None:
    assert [stage.name for stage in stages] == [name for name, _ in plain]
    for stage, (_, logits) in zip(stages, plain, strict=True):
        assert torch.equal(_whole(stage, len(logits)), logits)
        assert stage.kept == int((logits > -math.inf).sum())
        exact = logits.softmax(-1)
        own = exact if stage.ids is None else exact[stage.ids]
        torch.testing.assert_close(stage.probs, own, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [60, 3000, 17_000])
def test_stages_of_a_run_equal_the_acts_one_after_the_other(size: int) -> None:
    for seed in range(cases(60, 25)):
        shaping, logits, ids = _scene(seed, size)
        for config in (Greedy(shaping=shaping), Sampling(shaping=shaping, min_new_tokens=3)):
            for index in (2, 3):
                shaper = shaper_of(_Words(size), config)
                held = EOS if index < config.min_new_tokens else ()
                drawn = isinstance(config, Sampling)
                plain = PlainShaper(shaping, draws=drawn, held_back=held)
                stages = shaper.distributions(logits[0], ids[0], index)
                _see_equal(stages, plain.steps(logits[0], ids[0]))


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_stages_in_the_order_of_another_library(order) -> None:
    for seed in range(cases(60, 25)):
        shaping, logits, ids = _scene(seed, 500)
        shaper = StepShaper(shaping, names=order.processors)
        plain = PlainShaper(shaping, order=order.processors)
        _see_equal(shaper.distributions(logits[0], ids[0], 0), plain.steps(logits[0], ids[0]))


@pytest.mark.parametrize("size", [60, 5000])
def test_rows_of_beams_equal_each_row_alone(size: int) -> None:
    for seed in range(cases(60, 25)):
        shaping, logits, ids = _scene(seed, size, rows=3)
        config = BeamSearch(shaping=shaping, do_sample=seed % 3 > 0, min_new_tokens=4)
        log_probs = logits.log_softmax(-1)
        rows = beam_shaper_of(_Words(size), config).rows(log_probs, ids, [seed % 6] * 3)
        held = EOS if seed % 6 < 4 else ()
        plain = PlainShaper(shaping, draws=config.draws, held_back=held, keep=3)
        for row, logits_before, own in zip(rows, log_probs, ids, strict=True):
            steps = [one for one in plain.steps(logits_before, own) if one[0] != "argmax"]
            assert torch.equal(row, steps[-1][1])


@pytest.mark.parametrize("size", [60, 5000])
def test_rows_of_consecutive_positions_equal_each_row_alone(size: int) -> None:
    for seed in range(cases(60, 25)):
        shaping, logits, (*_, ids) = _scene(seed, size, rows=4)
        found = PositionShaper(shaping, 3, EOS)(logits, ids, 1)
        for row in range(4):
            held, own = EOS if row + 1 < 3 else (), ids[: len(ids) - 3 + row]
            last = PlainShaper(shaping, held_back=held).steps(logits[row], own)[-1][1]
            if found.probs is None:
                assert found.only[row] == int(last.argmax())
            else:
                assert torch.equal(found.probs[row], last.softmax(-1))


def test_picks_are_those_of_the_last_stage() -> None:
    for seed in range(cases(60, 25)):
        shaping, logits, ids = _scene(seed, 200)
        for method in ("inverse_cdf", "gumbel", "multinomial"):
            config = Sampling(shaping=shaping, seed=seed, draw=method)
            model = _Words(200)
            picked = Picker(model, config).pick(0, logits[0], ids[0])
            stages = shaper_of(model, config).distributions(logits[0], ids[0], 0)
            assert all(
                torch.equal(one.probs, other.probs) and one.log_norm == other.log_norm
                for one, other in zip(picked.stages, stages, strict=True)
            )
            if shaping.temperature > 0:
                noise = noise_at(method, seed, 0, 200)
                assert picked.pick.token_id == draw(stages[-1], method, noise).token_id


def test_penalties_act_where_nothing_is_drawn_and_filters_do_not() -> None:
    shaping = Shaping(repetition_penalty=1.5, top_k=2, temperature=0)
    stages = StepShaper(shaping).distributions(torch.tensor([2.0, 3.0, 1.0]), [1, 1], 1)
    assert [stage.name for stage in stages] == ["raw", "repetition_penalty", "argmax"]
    assert PENALTIES[1] == stages[1].name
    assert stages[-1].ids.tolist() == [0]
