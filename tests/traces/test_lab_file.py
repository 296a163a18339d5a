"""A step of the lab as a file that anyone may have written: round trips, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.decoding.errors import TraceError
from core.decoding.lab.step import agrees, lab_step
from core.decoding.lab.types import LabExample
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, TRANSFORMERS, VLLM
from core.traces.lab import lab_bytes
from core.traces.lab_file import read_any
from tests.figures.labs import SHAPING, make_lab, make_scene
from tests.figures.traces import make_trace

ORDERS = [TRANSFORMERS, VLLM, MLX_LM, LLAMA_CPP]


@pytest.fixture(scope="module")
def stored() -> LabExample:
    return make_lab()


def plain(example: LabExample) -> Any:
    return json.loads(lab_bytes(example))


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.key)
def test_a_step_in_any_order_comes_back(order) -> None:
    example = make_lab(replace(SHAPING, temperature=1.4, typical_p=0.9), order=order)
    found = read_any(lab_bytes(example))
    assert isinstance(found, LabExample)
    assert found.step.trace == example.step.trace
    assert found.step.order == order and found.step.skipped == example.step.skipped
    assert read_any(lab_bytes(found)) == found


@pytest.mark.parametrize("draw", ["gumbel", "multinomial"])
def test_noisy_scores_and_temperature_0_come_back(draw) -> None:
    for shaping in (SHAPING, Shaping(temperature=0)):
        example = make_lab(shaping, draw=draw)
        assert read_any(lab_bytes(example)).step.trace == example.step.trace  # type: ignore[union-attr]


def test_what_was_not_worked_out_may_be_missing(stored) -> None:
    bare = LabExample(stored.index, stored.step)
    found = read_any(lab_bytes(bare))
    assert isinstance(found, LabExample)
    assert (found.flips, found.rolls, found.sweep, found.continuations) == ((), None, None, None)


def test_hostile_token_text_comes_back_as_it_is() -> None:
    example = make_lab(hostile=True)
    found = read_any(lab_bytes(example))
    assert found.step.step.candidates == example.step.step.candidates  # type: ignore[union-attr]


def test_a_run_s_file_is_read_by_the_same_call() -> None:
    trace = make_trace(5)
    assert read_any(trace.to_json().encode()).to_dict() == trace.to_dict()  # type: ignore[union-attr]


def at(*path: Any, value: Any) -> Callable[[Any], None]:
    """Sets one field of the file."""

    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return change


def swap_stages(data: Any) -> None:
    stages = data["step"]["trace"]["steps"][0]["stages"]
    stages[1], stages[2] = stages[2], stages[1]


@pytest.mark.parametrize(
    "change",
    [
        at("version", value=2),
        at("index", value=3),
        at("index", value=-1),
        at("more", value=1),
        at("step", "order", value="nobody's"),
        at("step", "throw", value=5000),
        at("step", "throw", value=1),
        at("step", "skipped", value=["<b>"]),
        at("step", "raw_pick", "prob", value=2),
        at("step", "crossing", "probs", value=[0.5]),
        at("step", "trace", "prompt_ids", value=[]),
        at("step", "trace", "config", "method", value="greedy"),
        at("step", "trace", "config", "max_new_tokens", value=7),
        at("step", "trace", "config", "shaping", "top_p", value=7),
        at("step", "trace", "config", "shaping", "no_repeat_ngram_size", value=2),
        at("step", "trace", "steps", value=[]),
        swap_stages,
        at("flips", 0, "name", value="top_k"),
        at("flips", 0, "name", value="prompt"),
        at("flips", 0, "pieces", 0, "high", value=90),
        at("flips", value=None),
        at("rolls", "total", value=7),
        at("rolls", "bins", 0, "rolls", value=float("nan")),
        at("sweep", "probs", 0, value=[0.5]),
        at("sweep", "kept", value=[]),
        at("continuations", "config", "method", value="greedy"),
        at("continuations", "rows", 0, "finish_reason", value="because"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_in_one_sentence(stored, change) -> None:
    data = copy.deepcopy(plain(stored))
    change(data)
    with pytest.raises(TraceError) as raised:
        read_any(json.dumps(data).encode())
    assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


def test_a_file_of_the_model_s_numbers_agrees_with_it_and_a_forged_one_does_not(stored) -> None:
    config, order = stored.step.config, stored.step.order
    again = lab_step(make_scene(), config, order, stored.step.throw, "a prompt")  # type: ignore[arg-type]
    assert agrees(read_any(lab_bytes(stored)).step, again)  # type: ignore[union-attr]
    for forge in (
        at("step", "text_before", value="another"),
        at("step", "trace", "steps", 0, "candidates", "logit", 0, value=9.0),
        at("step", "trace", "steps", 0, "stages", 1, "probs", 0, value=0.9),
        at("step", "trace", "steps", 0, "stages", 2, "removed_mass", value=0.9),
        at("step", "trace", "steps", 0, "draw", "uniform", value=0.001),
    ):
        data = copy.deepcopy(plain(stored))
        forge(data)
        assert not agrees(read_any(json.dumps(data).encode()).step, again)  # type: ignore[union-attr]
