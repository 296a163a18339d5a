"""Masked diffusion equals plain loops of torch, to the token."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from core import Diffusion, Greedy, Shaping, collect, load_model
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.errors import ConfigError, ModelError
from core.decoding.shaping.stage import named_uniform
from core.models.running.masked import MaskedModel
from tests.models.builders import random_language_model, random_masked_model

GREEDY = Shaping(temperature=0.0)
SAMPLED = Shaping(temperature=0.8, top_k=20)
PROMPT = "the fox had"
# Takes `[vocab]` logits, step and position, and returns the token.
Choice = Callable[[Tensor, int, int], int]


def forward(model: MaskedModel, canvas: list[int]) -> Tensor:
    with torch.no_grad():
        logits = model.hf_model(input_ids=torch.tensor([canvas])).logits[0]
    logits[:, model.mask_id] = -math.inf
    return logits


def most_probable(logits: Tensor, _step: int, _position: int) -> int:
    return int(logits.argmax())


def drawn(seed: int) -> Choice:
    """Draw by inverse CDF, the most probable tokens first."""

    def choice(logits: Tensor, step: int, position: int) -> int:
        values, ids = torch.topk(logits / SAMPLED.temperature, SAMPLED.top_k)
        uniform = named_uniform(seed, f"canvas {step}", position)
        return int(ids[int((values.softmax(0).cumsum(0) > uniform).nonzero()[0])])

    return choice


CHOICES = [(GREEDY, most_probable), (SAMPLED, drawn(3))]


@pytest.mark.parametrize(("shaping", "choice"), CHOICES, ids=["greedy", "sampled"])
def test_left_to_right_in_blocks_of_one_is_a_loop_that_appends_a_mask(shaping, choice) -> None:
    model, ids = random_masked_model(), random_masked_model().encode(PROMPT)
    written: list[int] = []
    while len(written) < 12 and not {*written} & model.eos_ids:
        logits = forward(model, [*ids, *written, model.mask_id])[-1]
        written.append(choice(logits, len(written), len(written)))
    config = Diffusion(
        max_new_tokens=12, order="left_to_right", block_length=1, canvas="grows", seed=3,
        shaping=shaping,
    )  # fmt: skip
    assert list(collect(model, PROMPT, config).token_ids) == written


def filled(
    model: MaskedModel, ids: list[int], length: int, block: int, a_step: int, choice: Choice
) -> list[int]:
    """Fill blocks from left to right, the most confident tokens of a step first."""
    canvas, step = [*ids, *[model.mask_id] * length], 0
    for begin in range(len(ids), len(canvas), block):
        places = range(begin, min(begin + block, len(canvas)))
        while opened := [at for at in places if canvas[at] == model.mask_id]:
            logits = forward(model, canvas)
            tokens = {at: choice(logits[at], step, at - len(ids)) for at in opened}
            probs = logits.softmax(-1)
            for at in sorted(opened, key=lambda at: -float(probs[at, tokens[at]]))[:a_step]:
                canvas[at] = tokens[at]
            step += 1
    written = canvas[len(ids) :]
    end = next((at for at, token in enumerate(written) if token in model.eos_ids), length)
    return written[: end + 1]


@pytest.mark.parametrize(("shaping", "choice"), CHOICES, ids=["greedy", "sampled"])
@pytest.mark.parametrize(("block", "a_step"), [(4, 1), (5, 2), (12, 3)])
def test_most_confident_first_is_a_plain_loop(shaping, choice, block, a_step) -> None:
    model = random_masked_model()
    config = Diffusion(
        max_new_tokens=12, block_length=block, tokens_per_step=a_step, seed=3, shaping=shaping
    )
    expected = filled(model, model.encode(PROMPT), 12, block, a_step, choice)
    assert list(collect(model, PROMPT, config).token_ids) == expected


def test_the_embedded_model_answers_as_the_plain_loop_does() -> None:
    model: Any = load_model("embedded:diffusion")
    for question in ("What is 12 + 30?", "What is the capital of France?"):
        ids = model.encode_chat([{"role": "user", "content": question}])
        trace = collect(model, ids, Diffusion(max_new_tokens=32, shaping=GREEDY))
        assert list(trace.token_ids) == filled(model, ids, 32, 8, 1, most_probable)
        assert trace.finish_reason == "eos"
        assert ("42" in trace.text) or ("Paris" in trace.text)


def first(config: Diffusion) -> Any:
    return canvas_steps(collect(random_masked_model(), PROMPT, config))[0]


def test_the_margin_is_the_gap_of_the_two_most_probable_tokens() -> None:
    step = first(Diffusion(max_new_tokens=6, order="margin", shaping=GREEDY))
    model = random_masked_model()
    ids = model.encode(PROMPT)
    probs = forward(model, [*ids, *[model.mask_id] * 6]).softmax(-1)[len(ids) :]
    two = probs.topk(2)[0]
    gaps = (two[:, 0] - two[:, 1]).tolist()
    assert [one.score for one in step.open] == pytest.approx(gaps, abs=1e-6)
    assert step.filled[0].index == gaps.index(max(gaps))


@pytest.mark.parametrize("bound", [0.0, 4.0, 9.0, 100.0])
def test_a_step_fills_as_many_positions_as_the_entropy_bound_allows(bound: float) -> None:
    step = first(Diffusion(max_new_tokens=6, order="entropy", entropy_bound=bound, shaping=GREEDY))
    entropies = sorted(one.entropy for one in step.open)
    fits = [n for n in range(1, 7) if sum(entropies[:n]) - entropies[n - 1] <= bound]
    assert len(step.filled) == max(fits)
    assert [one.entropy for one in step.filled] == entropies[: max(fits)]


def test_a_random_order_depends_on_the_seed_alone() -> None:
    orders = set()
    for seed in range(6):
        config = Diffusion(max_new_tokens=5, order="random", seed=seed, shaping=GREEDY)
        trace = collect(random_masked_model(), PROMPT, config)
        order = [one.index for step in canvas_steps(trace) for one in step.filled]
        assert sorted(order) == [*range(len(order))]
        numbers = [named_uniform(seed, "order", at) for at in order]
        assert numbers == sorted(numbers, reverse=True)
        orders.add(tuple(order))
    assert len(orders) > 1


def test_penalties_and_bans_act_at_every_position() -> None:
    banned = Shaping(temperature=0.0, logit_bias=((7, -100.0),))
    plain = collect(random_masked_model(), PROMPT, Diffusion(max_new_tokens=6, shaping=GREEDY))
    token = plain.token_ids[0]
    banned = Shaping(temperature=0.0, logit_bias=((token, -100.0),))
    trace = collect(random_masked_model(), PROMPT, Diffusion(max_new_tokens=6, shaping=banned))
    assert token not in trace.token_ids
    never = Shaping(temperature=0.0, repetition_penalty=100.0)
    trace = collect(
        random_masked_model(),
        PROMPT,
        Diffusion(max_new_tokens=6, order="left_to_right", shaping=never),
    )
    assert len({*trace.token_ids}) == len(trace.token_ids)


def test_the_text_ends_with_the_first_end_token_and_a_stop_string_ends_it() -> None:
    model: Any = load_model("embedded:diffusion")
    ids = model.encode_chat([{"role": "user", "content": "What is the capital of France?"}])
    whole = collect(model, ids, Diffusion(max_new_tokens=40, shaping=GREEDY))
    assert whole.token_ids[-1] in model.eos_ids and not {*whole.token_ids[:-1]} & model.eos_ids
    stopped = collect(
        model, ids, Diffusion(max_new_tokens=40, shaping=GREEDY, stop_strings=("capital",))
    )
    assert stopped.finish_reason == "stop" and stopped.text.endswith("capital")


def test_streamed_texts_grow_without_holes() -> None:
    config = Diffusion(max_new_tokens=16, block_length=16, tokens_per_step=3, seed=1)
    trace = collect(random_masked_model(), PROMPT, config)
    assert "".join(step.text for step in canvas_steps(trace)) == trace.text
    open_counts = [len(step.open) for step in canvas_steps(trace)]
    assert all(later == before - 3 for before, later in pairwise(open_counts))


def test_each_kind_of_model_refuses_the_other_kinds_method_in_one_sentence() -> None:
    with pytest.raises(ModelError, match=r"predicts the next token, .* take embedded:diffusion"):
        collect(random_language_model("llama"), PROMPT, Diffusion())
    with pytest.raises(ModelError, match=r"has no next token; take the method diffusion"):
        collect(random_masked_model(), PROMPT, Greedy())


def test_settings_outside_their_intervals_are_refused() -> None:
    for wrong in ({"block_length": 0}, {"order": "best"}, {"top_candidates": 1}, {"canvas": "x"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Diffusion(**wrong)
