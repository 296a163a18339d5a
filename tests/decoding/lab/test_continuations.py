"""Rows of one batch equal runs of their own."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import Greedy, Sampling, Shaping, collect, load_model
from core.decoding.autoregressive.engine import Picker
from core.decoding.config import DRAW_METHODS
from core.decoding.constraints.value import Constraint
from core.decoding.lab.continuations import continue_in_batch, rows_of
from core.decoding.lab.types import Continuation, RowToken, distinct
from core.decoding.shaping.config import SETTINGS
from core.models.scripted import ScriptedModel
from tests.models.builders import forward_shapes, random_language_model

SEEDS = [3, 4, 5, 6, 7]


def grown(model, ids, config, seeds=SEEDS):
    return rows_of(model, list(continue_in_batch(model, ids, config, seeds)), seeds)


@pytest.mark.parametrize("draw", DRAW_METHODS)
@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma3_text"])
def test_row_i_is_the_run_with_seed_i(kind, draw) -> None:
    model = random_language_model(kind)
    ids = model.encode("the small red fox")
    shaping = Shaping(temperature=1.3, top_p=0.9, repetition_penalty=1.2)
    config = Sampling(max_new_tokens=12, shaping=shaping, draw=draw)
    *rows, greedy = grown(model, ids, config)
    for seed, row in zip(SEEDS, rows, strict=True):
        alone = collect(model, ids, replace(config, seed=seed))
        assert tuple(token.token_id for token in row.tokens) == alone.token_ids
        assert row.text == alone.text and row.finish_reason == alone.finish_reason
        for token, step in zip(row.tokens, alone.token_steps, strict=True):
            assert token.prob == pytest.approx(step.chosen.prob, abs=1e-4)
            assert token.raw_prob == pytest.approx(step.chosen.raw_prob, abs=1e-4)
    alone = collect(model, ids, Greedy(max_new_tokens=12, shaping=Shaping(repetition_penalty=1.2)))
    assert greedy.seed is None
    assert tuple(token.token_id for token in greedy.tokens) == alone.token_ids


def test_a_row_that_ends_leaves_the_batch_and_the_others_go_on() -> None:
    model = ScriptedModel({(): [0.5, 0.0, 0.5, 0, 0, 0, 0, 0], (2,): [0.3, 0, 0.7, 0, 0, 0, 0, 0]})
    config = Sampling(max_new_tokens=9)
    rows = grown(model, [1], config, list(range(12)))
    assert len({len(row.tokens) for row in rows}) > 2
    for row in rows[:-1]:
        alone = collect(model, [1], replace(config, seed=row.seed))
        assert tuple(token.token_id for token in row.tokens) == alone.token_ids
        assert row.finish_reason == alone.finish_reason


def test_every_yield_is_one_forward_of_the_whole_batch() -> None:
    model = random_language_model("llama")
    shapes = forward_shapes(model)
    config = Sampling(max_new_tokens=5)
    steps = list(continue_in_batch(model, [1, 2], config, [1, 2, 3], greedy=False))
    assert [[step.row for step in batch] for batch in steps] == [[0, 1, 2]] * 5
    # The first token comes of the prompt, the last one needs no forward after it.
    assert shapes == [(1, 2), *[(3, 1)] * 4]


def test_the_window_bounds_the_rows() -> None:
    model = random_language_model("gpt2", max_position_embeddings=8)
    rows = grown(model, [1] * 5, Sampling(max_new_tokens=40))
    assert all(len(row.tokens) <= 3 for row in rows)


def test_temperature_0_makes_every_row_the_greedy_one() -> None:
    model = random_language_model("llama")
    rows = grown(model, [1, 2, 3], Sampling(max_new_tokens=6, shaping=Shaping(temperature=0)))
    assert len({tuple(token.token_id for token in row.tokens) for row in rows}) == 1


def row_of(*ids: int, prob: float = 0.5) -> Continuation:
    tokens = tuple(RowToken(token, f"t{token}", prob, prob) for token in ids)
    return Continuation(1, tokens, "", "length")


def test_distinct_n_counts_different_n_grams_over_all() -> None:
    row = row_of(1, 2, 1, 2)
    assert row.distinct(1) == 2 / 4
    assert row.distinct(2) == 2 / 3
    assert row.distinct(5) is None
    assert distinct([row, row_of(1, 2)], 2) == 2 / 4


def test_the_mean_log_probability_is_of_the_model_s_own() -> None:
    assert row_of(1, 2, prob=0.25).mean_logprob == pytest.approx(math.log(0.25))
    assert row_of().mean_logprob == 0.0


GOING_ON = [
    Shaping(mirostat=2, mirostat_tau=3.0, mirostat_eta=0.5),
    Shaping(adaptive_target=0.3, min_p=0.02),
    Shaping(frequency_penalty=1.5, presence_penalty=0.5),
    Shaping(synthid_depth=8, synthid_ngram=3),
    Shaping(constraint=Constraint("regex", "[a-z ,.]{40}")),
]


@pytest.mark.parametrize("shaping", GOING_ON, ids=lambda shaping: shaping.active(SETTINGS)[0])
def test_rows_go_on_from_the_generated_tokens_and_the_samplers_states(shaping) -> None:
    model = load_model("embedded:target")
    run = collect(model, "Once upon a time", Sampling(max_new_tokens=9, seed=1, shaping=shaping))
    before, states = run.token_ids[:6], run.token_steps[6].states
    ids = [*run.prompt_ids, *before]
    config = Sampling(max_new_tokens=8, shaping=shaping)
    batch = list(
        continue_in_batch(model, ids, config, [5], greedy=False, generated=6, states=states)
    )
    (row,) = rows_of(model, batch, [5], greedy=False)
    # The run that goes on after the same tokens, with the noise of a run from its start.
    shaper_ids, probs = list(ids), []
    picker = Picker(model, replace(config, seed=5), states=states)
    context = model.start(ids)
    for index in range(6, 14):
        picked = picker.pick(index, context.logits[0], shaper_ids)
        token_id = picked.pick.token_id
        picker.take(picked, token_id)
        shaper_ids.append(token_id)
        last = torch.tensor(picked.stages[-1].log_probs_of(torch.tensor([token_id])))
        probs.append(float(last.exp()))
        if token_id in model.eos_ids:
            break
        context.extend([token_id])
    assert [token.token_id for token in row.tokens] == shaper_ids[len(ids) :]
    assert [token.prob for token in row.tokens] == pytest.approx(probs, abs=1e-5)
    afresh = list(continue_in_batch(model, ids, config, [5], greedy=False))
    assert rows_of(model, afresh, [5], greedy=False) != (row,)
