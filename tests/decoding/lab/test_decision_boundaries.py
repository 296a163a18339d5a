"""The values at which the same dice pick another token, proved by drawing on both sides."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from core.decoding.autoregressive.config import Sampling
from core.decoding.config import DRAW_METHODS
from core.decoding.lab import decision_boundaries
from core.decoding.lab.decision_boundaries import all_boundaries
from core.decoding.lab.step import lab_step
from core.decoding.shaping.config import KNOB_RANGES, SETTINGS, Shaping
from core.decoding.shaping.orders import LLAMA_CPP, ORDERS, TRANSFORMERS, VLLM
from tests.decoding.lab.scenes import probabilities, random_scene, scene_of

BASE = Sampling(seed=5, shaping=Shaping(temperature=0.9, top_p=0.9))


def token_at(scene, config, order, name, value) -> int:
    setting = int(value) if SETTINGS[name].whole else value
    moved = replace(config, shaping=replace(config.shaping, **{name: setting}))
    return lab_step(scene, moved, order).step.token_id


def knob_of(scene, config, order, name, low, high, *more):
    """One knob's boundaries between two values, at the first throw."""
    return all_boundaries(scene, config, order, 0, {name: (low, high)}, *more)[0]


@pytest.mark.parametrize("draw", DRAW_METHODS)
@pytest.mark.parametrize("order", [TRANSFORMERS, LLAMA_CPP], ids=lambda order: order.key)
@pytest.mark.parametrize("name", KNOB_RANGES)
def test_every_piece_gives_its_token_at_both_ends_and_pieces_touch(name, order, draw) -> None:
    scene, config = random_scene(200, seed=4), replace(BASE, draw=draw)
    low, high = KNOB_RANGES[name]
    knob = knob_of(scene, config, order, name, low, high)
    if order.lacks(name):
        assert not knob.acts and knob.pieces == ()
        return
    assert knob.pieces[knob.here].token_id == lab_step(scene, config, order).step.token_id
    for piece in knob.pieces:
        assert token_at(scene, config, order, name, piece.low) == piece.token_id
        assert token_at(scene, config, order, name, piece.high) == piece.token_id
    fine = 1.0 if SETTINGS[name].whole else 1.01e-6 * (high - low)
    for left, right in pairwise(knob.pieces):
        assert left.high < right.low and left.token_id != right.token_id
        assert knob.pieces[knob.here] not in (left, right) or right.low - left.high <= fine
    assert (knob.pieces[0].low, knob.pieces[-1].high) == (low, high)


def test_the_flip_of_top_p_is_where_arithmetic_says() -> None:
    """u picks token 1 while u * kept mass >= 0.5: token 2 must be in, so p above 0.8 flips."""
    scene = probabilities(0.5, 0.3, 0.2)
    seed = next(s for s in range(1000) if 0.52 < float(_uniform(s)) < 0.6)
    config = Sampling(seed=seed, shaping=Shaping(top_p=0.95))
    knob = knob_of(scene, config, TRANSFORMERS, "top_p", 0.0, 1.0)
    # All three kept: u * 1 > 0.5, token 1. Two kept: u * 0.8 < 0.5, token 0.
    assert [piece.token_id for piece in knob.pieces] == [0, 1]
    assert knob.below is not None and knob.below.high == pytest.approx(0.8, abs=2e-6)


def test_a_knob_between_whole_numbers_is_searched_there_too_where_it_is_an_int() -> None:
    scene = random_scene(200, seed=4)
    drawn = [
        knob_of(scene, replace(BASE, shaping=Shaping(top_p=value)), TRANSFORMERS, "top_p", 0.0, 1.0)
        for value in (1, 1.0)
    ]
    assert drawn[0] == drawn[1] and len(drawn[0].pieces) > 2


def _uniform(seed: int) -> torch.Tensor:
    return torch.rand((), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_top_k_flips_between_whole_numbers_and_0_is_off() -> None:
    scene = random_scene(200, seed=4)
    knob = knob_of(scene, replace(BASE, shaping=Shaping()), TRANSFORMERS, "top_k", 0, 100)
    assert all(piece.low == int(piece.low) for piece in knob.pieces)
    assert knob.pieces[0].low == 0 and knob.pieces[0].high == 0
    assert knob.pieces[0].token_id == lab_step(scene, Sampling(seed=5)).step.token_id


def test_temperatures_between_0_and_the_least_one_are_never_tried() -> None:
    scene = scene_of(torch.tensor([0.0, 3.0, 2.9999, 1.0]))
    knob = knob_of(scene, replace(BASE, shaping=Shaping()), TRANSFORMERS, "temperature", 0.0, 2.0)
    ends = {value for piece in knob.pieces for value in (piece.low, piece.high)}
    assert not {value for value in ends if 0 < value < 0.001}


@pytest.mark.parametrize(("name", "value"), [("temperature", 5.0), ("top_k", 250)])
def test_a_knob_beyond_the_range_is_searched_up_to_where_it_stands(name, value) -> None:
    scene, config = random_scene(), replace(BASE, shaping=replace(Shaping(), **{name: value}))
    knob = knob_of(scene, config, VLLM, name, *KNOB_RANGES[name])
    assert (knob.pieces[0].low, knob.pieces[-1].high) == (0, value)
    assert knob.here == len(knob.pieces) - 1 and knob.above is None
    assert knob.pieces[-1].token_id == lab_step(scene, config, VLLM).step.token_id
    beyond = token_at(scene, config, VLLM, name, knob.below.high)
    assert beyond == knob.below.token_id != knob.pieces[-1].token_id


def test_a_crowded_knob_at_a_large_vocabulary_is_tried_at_a_bounded_number_of_values() -> None:
    scene = random_scene(3000, seed=5, scale=1.0)
    config = replace(BASE, shaping=Shaping(temperature=1.5), seed=_high_seed())
    drawn: list[float] = []
    real = decision_boundaries.draw

    def counting(*asked):
        drawn.append(0.0)
        return real(*asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision_boundaries, "draw", counting)
        knob = knob_of(scene, config, TRANSFORMERS, "temperature", 0.0, 2.0)
    assert len(knob.pieces) > 60
    assert len(drawn) <= 33 + 2 + 160 + 2 * 20


def _high_seed() -> int:
    return next(seed for seed in range(100) if 0.8 < float(_uniform(seed)) < 0.9)


def test_a_stopped_search_ends_with_what_is_known() -> None:
    for order in ORDERS.values():
        assert knob_of(random_scene(), BASE, order, "top_p", 0.0, 1.0, lambda: True).pieces == ()
