"""A forged field of a diffusion run is found by the check of that name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core import Diffusion, Shaping, Trace, check, collect
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.errors import TraceError
from core.traces.file import trace_of
from tests.decoding.checks.forging import failed
from tests.models.builders import random_language_model, random_masked_model

CONFIGS = [
    Diffusion(max_new_tokens=8, block_length=4, seed=seed, order=order, canvas=canvas,
              tokens_per_step=2, entropy_bound=3.0, min_new_tokens=3,
              shaping=Shaping(temperature=temperature, repetition_penalty=1.2, top_p=0.9))
    for seed, order, canvas, temperature in (
        (0, "confidence", "whole", 0.0), (1, "margin", "grows", 0.7), (2, "entropy", "whole", 0.7),
        (3, "random", "grows", 1.2), (4, "left_to_right", "whole", 0.9),
    )
]  # fmt: skip


CONFIGS += [
    replace(CONFIGS[1], max_new_tokens=12, block_length=12, tokens_per_step=3, remask_per_step=1),
    replace(CONFIGS[0], cfg_scale=1.5),
    replace(CONFIGS[2], remask_per_step=2, confidence_threshold=5.0, cfg_scale=0.5),
]


@pytest.fixture(scope="module")
def model() -> Any:
    return random_masked_model()


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    return collect(model, "the fox had", CONFIGS[1])


@pytest.mark.parametrize("config", CONFIGS)
def test_an_honest_run_passes_every_check(model, config) -> None:
    trace = collect(model, "the fox had", config)
    assert failed(trace, model) == set()
    assert trace_of(trace.to_dict()) == trace
    names = {outcome.name for outcome in check(trace, model)}
    assert {"canvas_of_steps", "order_of_scores", "proposals_of_steps", "canvas_again"} <= names


def with_step(trace: Trace, at: int, **changes: Any) -> Trace:
    steps = list(trace.steps)
    steps[at] = replace(canvas_steps(trace)[at], **changes)
    return replace(trace, steps=tuple(steps))


def with_open(trace: Trace, at: int, is_filled: bool, **changes: Any) -> Trace:
    """One open position of a step changed: a filled one, or one that stays masked."""
    opened = list(canvas_steps(trace)[at].open)
    place = next(place for place, one in enumerate(opened) if one.filled == is_filled)
    opened[place] = opened[place]._replace(**changes)
    return with_step(trace, at, open=tuple(opened))


@pytest.mark.parametrize(
    ("filled", "changes", "found"),
    [
        (False, {"score": 0.999}, "order_of_scores"),
        (False, {"filled": True}, "order_of_scores"),
        (True, {"entropy": 0.5}, "proposals_of_steps"),
        (True, {"token_id": 9}, "proposals_of_steps"),
        (False, {"entropy": 0.5}, "canvas_again"),
        (False, {"prob": 0.0}, "canvas_again"),
        (False, {"text": "!"}, "stages_again"),
    ],
)
def test_a_forged_open_position_is_found(trace, model, filled, changes, found) -> None:
    assert found in failed(with_open(trace, 0, filled, **changes), model)


def test_another_token_for_a_masked_position_is_found(trace, model) -> None:
    step = canvas_steps(trace)[0]
    place = next(one for one in step.open if not one.filled)
    other = [c for c in step.candidates if c.position == place.position][-1]
    assert other.token_id != place.token_id
    forged = with_open(trace, 0, False, token_id=other.token_id, text=other.text, prob=other.prob)
    assert failed(forged) == set()
    assert failed(forged, model) == {"stages_again"}


def test_a_forged_candidate_is_found(trace, model) -> None:
    step = canvas_steps(trace)[0]
    masked = {one.position for one in step.open if not one.filled}
    at = next(at for at, c in enumerate(step.candidates) if c.position in masked)
    listed = list(step.candidates)
    listed[at] = listed[at]._replace(prob=listed[at].prob * 1.01)
    assert "canvas_again" in failed(with_step(trace, 0, candidates=tuple(listed)), model)


def test_positions_filled_in_another_order_are_found(trace) -> None:
    step = canvas_steps(trace)[0]
    assert "order_of_scores" in failed(with_step(trace, 0, filled=step.filled[::-1]))


def test_a_step_that_is_left_out_is_found(trace) -> None:
    steps = [replace(step, index=at) for at, step in enumerate(trace.steps[1:])]
    assert "canvas_of_steps" in failed(replace(trace, steps=tuple(steps)))


def test_a_text_gained_too_early_is_found(trace) -> None:
    first = canvas_steps(trace)[0]
    forged = with_step(trace, 0, emitted=(*first.emitted, 5), texts=(*first.texts, "x"))
    assert "canvas_of_steps" in failed(forged)


def test_other_tokens_masked_again_are_found(model) -> None:
    trace = collect(model, "the fox had", CONFIGS[5])
    steps = canvas_steps(trace)
    at = next(at for at, step in enumerate(steps) if step.remasked)
    earlier = [one.index for step in steps[:at] for one in step.filled]
    other = next(position for position in earlier if position not in steps[at].remasked)
    assert "order_of_scores" in failed(with_step(trace, at, remasked=(other,)))
    assert "order_of_scores" in failed(with_step(trace, at, remasked=()))
    assert "steps_whole" in failed(with_step(trace, at, remasked=(99,)))


def test_forged_probabilities_before_guidance_are_found(model) -> None:
    trace = collect(model, "the fox had", CONFIGS[6])
    first, *others = canvas_steps(trace)[0].unguided
    for changed in (
        first._replace(with_prompt=first.with_prompt * 1.01),
        first._replace(without_prompt=first.without_prompt * 1.01),
    ):
        forged = with_step(trace, 0, unguided=(changed, *others))
        assert failed(forged) == set()
        assert failed(forged, model) == {"canvas_again"}
    assert "steps_whole" in failed(with_step(trace, 0, unguided=()))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"seed": 9}, "dice_of_seed"),
        ({"order": "random"}, "order_of_scores"),
        ({"block_length": 3}, "canvas_of_steps"),
        ({"tokens_per_step": 1}, "order_of_scores"),
        ({"canvas": "whole"}, "canvas_again"),
        ({"confidence_threshold": 50.0, "stability_threshold": 0}, "order_of_scores"),
        ({"remask_per_step": 1, "block_length": 8, "tokens_per_step": 3}, "order_of_scores"),
        ({"cfg_scale": 1.0}, "steps_whole"),
        ({"max_new_tokens": 20}, "fits_model"),
    ],
)
def test_settings_of_another_run_are_found(trace, model, changes, found) -> None:
    assert found in failed(replace(trace, config=replace(trace.config, **changes)), model)


def test_a_model_of_the_other_kind_cannot_have_made_it(trace) -> None:
    other = random_language_model("llama", vocab=301)
    assert failed(trace, other) == {"fits_model"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda step: step["open"]["filled"].__setitem__(0, not step["open"]["filled"][0]),
            "fills",
        ),
        (lambda step: step.update(limit=2), "too many|changes its length"),
        (lambda step: step["filled"][0].update(phase="thinking"), "what only a step of one"),
        (lambda step: step.update(index=4), "numbered"),
        (lambda step: step["open"].update(extra=[]), "no field"),
    ],
)
def test_a_file_whose_parts_contradict_each_other_is_refused(trace, change, says) -> None:
    data = trace.to_dict()
    change(data["steps"][0])
    with pytest.raises(TraceError, match=says):
        trace_of(data)
