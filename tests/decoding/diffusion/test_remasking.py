"""Remasking, the end of a settled block and guidance equal plain loops of torch."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from core import Diffusion, Shaping, collect, load_model
from core.decoding.diffusion.canvas import canvas_steps, forwards_of, replayed
from core.decoding.errors import ConfigError
from core.models.running.masked import MaskedModel
from tests.models.builders import random_masked_model

GREEDY = Shaping(temperature=0.0)
PROMPT = "the fox had"
LENGTH = 12


def forward(model: MaskedModel, canvas: list[int]) -> Tensor:
    with torch.no_grad():
        logits = model.hf_model(input_ids=torch.tensor([canvas])).logits[0]
    logits[:, model.mask_id] = -math.inf
    return logits


def most_confident(
    model: MaskedModel, block: int, a_step: int, again: int, entropy: float = 0.0
) -> tuple[list[int], int]:
    """Fill and mask again; return the tokens up to the end, and the number of steps."""
    ids = model.encode(PROMPT)
    canvas, steps = [*ids, *[model.mask_id] * LENGTH], 0
    for begin in range(len(ids), len(canvas), block):
        places, came = range(begin, min(begin + block, len(canvas))), dict[int, float]()
        before: list[int] | None = None
        while opened := [at for at in places if canvas[at] == model.mask_id]:
            probs = forward(model, canvas).softmax(-1)
            draft = [int(probs[at].argmax()) if at in opened else canvas[at] for at in places]
            mean = float(torch.distributions.Categorical(probs=probs[opened]).entropy().mean())
            count = len(opened) if draft == before and mean < entropy else a_step
            before = draft
            filled = sorted(opened, key=lambda at: -float(probs[at].max()))[:count]
            earlier = sorted(came, key=lambda at: (came[at], at))
            for at in filled:
                canvas[at], came[at] = int(probs[at].argmax()), float(probs[at].max())
            if len(filled) < len(opened):
                for at in earlier[: min(again, len(filled) - 1)]:
                    canvas[at] = model.mask_id
                    del came[at]
            steps += 1
        written = canvas[len(ids) : min(begin + block, len(canvas))]
        if end := next((n for n, token in enumerate(written, 1) if token in model.eos_ids), 0):
            return written[:end], steps
    return canvas[len(ids) :], steps


@pytest.mark.parametrize(("block", "a_step", "again"), [(12, 3, 1), (6, 2, 1), (12, 4, 9)])
def test_the_least_sure_tokens_are_masked_again(block: int, a_step: int, again: int) -> None:
    model = random_masked_model()
    config = Diffusion(
        max_new_tokens=LENGTH, block_length=block, tokens_per_step=a_step, remask_per_step=again,
        shaping=GREEDY,
    )  # fmt: skip
    trace = collect(model, PROMPT, config)
    tokens, steps = most_confident(model, block, a_step, again)
    assert (list(trace.token_ids), len(trace.steps)) == (tokens, steps)
    assert sum(len(step.remasked) for step in canvas_steps(trace)) > 0


@pytest.mark.parametrize("entropy", [0.0, 3.0, 100.0])
def test_a_stable_and_confident_block_is_filled_at_once(entropy: float) -> None:
    model = random_masked_model()
    config = Diffusion(
        max_new_tokens=LENGTH, block_length=6, confidence_threshold=entropy, shaping=GREEDY
    )
    trace = collect(model, PROMPT, config)
    tokens, steps = most_confident(model, 6, 1, 0, entropy)
    assert (list(trace.token_ids), len(trace.steps)) == (tokens, steps)


def test_a_settled_block_saves_forwards_and_a_threshold_of_steps_costs_some() -> None:
    model: Any = load_model("embedded:diffusion")
    ids = model.encode_chat([{"role": "user", "content": "What is the capital of France?"}])
    counts = []
    for stable in (0, 1, 3):
        config = Diffusion(
            max_new_tokens=24, block_length=12, confidence_threshold=0.5,
            stability_threshold=stable, shaping=GREEDY,
        )  # fmt: skip
        trace = collect(model, ids, config)
        assert "Paris" in trace.text
        counts.append(len(trace.steps))
    assert counts == sorted(counts) and counts[0] < counts[-1] < 24


def test_remasking_ends_and_emits_whole_blocks() -> None:
    config = Diffusion(
        max_new_tokens=16, block_length=8, tokens_per_step=2, remask_per_step=1, seed=1
    )
    trace = collect(random_masked_model(), PROMPT, config)
    steps = canvas_steps(trace)
    assert [len(step.emitted) for step in steps if step.emitted] == [8, 8]
    assert "".join(step.text for step in steps) == trace.text
    masked = [sum(token is None for token in tokens) for _, tokens in replayed(steps, 16)]
    assert all(after < before for before, after in pairwise(masked))


def test_remasking_where_a_step_fills_one_token_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"remask_per_step.* needs tokens_per_step above 1"):
        Diffusion(remask_per_step=1)
    assert Diffusion(remask_per_step=1, order="entropy").remask_per_step == 1


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_guidance_is_the_formula_of_llada(scale: float) -> None:
    model = random_masked_model()
    ids = model.encode(PROMPT)
    config = Diffusion(max_new_tokens=6, cfg_scale=scale, shaping=GREEDY)
    trace = collect(model, ids, config)
    step = canvas_steps(trace)[0]
    masks = [model.mask_id] * 6
    cond, un = forward(model, [*ids, *masks]), forward(model, [*[model.mask_id] * len(ids), *masks])
    kept = [token for token in range(model.vocab_size) if token != model.mask_id]
    guided = (un + (scale + 1) * (cond - un))[len(ids) :, kept]
    assert [one.token_id for one in step.open] == guided.argmax(-1).tolist()
    assert [one.prob for one in step.open] == pytest.approx(guided.softmax(-1).amax(-1).tolist())
    for candidate, both in zip(step.candidates, step.unguided, strict=True):
        at = len(ids) + candidate.position
        expected = [float(rows[at].softmax(-1)[candidate.token_id]) for rows in (cond, un)]
        assert list(both) == pytest.approx(expected)
    assert forwards_of(trace) == 2 * len(trace.steps)
