"""Moving a knob over a stored step: the same dice, no forward."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import Sampling, Shaping, collect
from core.decoding.autoregressive.reshape import logits_at, reshape_step
from core.decoding.config import DRAW_METHODS
from tests.models.builders import random_language_model


@pytest.fixture(scope="module")
def model():
    return random_language_model("llama")


def _reshaped(model, trace, index, config):
    logits = logits_at(model, trace, index)
    previous = [*trace.prompt_ids, *trace.token_ids[:index]]
    return reshape_step(model, logits, previous, config, index)


@pytest.mark.parametrize("draw", DRAW_METHODS)
@pytest.mark.parametrize("index", [0, 3, 7])
def test_the_run_s_own_knobs_give_the_run_s_own_step(model, draw, index) -> None:
    config = Sampling(max_new_tokens=8, seed=9, shaping=Shaping(top_k=30), draw=draw)
    trace = collect(model, "the small red fox", config)
    step, again = trace.token_steps[index], _reshaped(model, trace, index, config)
    assert again.token_id == step.token_id
    assert again.draw.uniform == step.draw.uniform
    ours = {c.token_id: c.prob for c in again.candidates}
    for candidate in step.candidates:
        if candidate.token_id in ours:
            assert ours[candidate.token_id] == pytest.approx(candidate.prob, abs=1e-4)


def test_other_knobs_keep_the_uniform_number_and_may_move_the_token(model) -> None:
    config = Sampling(max_new_tokens=8, seed=9)
    trace = collect(model, "the small red fox", config)
    step = _reshaped(model, trace, 5, replace(config, shaping=Shaping(top_k=1)))
    assert step.draw.uniform == trace.token_steps[5].draw.uniform
    assert step.token_id == step.candidates[0].token_id
    assert [stage.name for stage in step.stages] == ["raw", "top_k", "final"]
