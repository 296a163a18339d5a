"""A step of the lab as a file that anyone may have written: round trips, and what is refused."""

from __future__ import annotations

import json
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
from tests.traces.reading import changed

NOISY = ("gumbel", "multinomial")
ARGMAX, OWN = Shaping(temperature=0), replace(SHAPING, temperature=1.4, typical_p=0.9)
ORDERS = [TRANSFORMERS, VLLM, MLX_LM, LLAMA_CPP]


@pytest.fixture(scope="module")
def stored() -> LabExample:
    return make_lab()


def plain(example: LabExample) -> Any:
    return json.loads(lab_bytes(example))


@pytest.mark.parametrize(
    "made",
    [
        *({"shaping": OWN, "order": order} for order in ORDERS),
        *({"shaping": shaping, "draw": draw} for shaping in (SHAPING, ARGMAX) for draw in NOISY),
        {"hostile": True},
    ],
    ids=str,
)
def test_a_step_comes_back(made) -> None:
    example = make_lab(**made)
    read = read_any(lab_bytes(example))
    assert read.step.trace == example.step.trace and read.step.order == example.step.order
    assert read.step.skipped == example.step.skipped
    assert read_any(lab_bytes(read)) == read


def test_what_was_not_worked_out_may_be_missing(stored) -> None:
    read = read_any(lab_bytes(LabExample(stored.index, stored.step)))
    assert (read.flips, read.rolls, read.sweep, read.continuations) == ((), None, None, None)


def test_a_run_s_file_is_read_by_the_same_call() -> None:
    trace = make_trace(5)
    assert read_any(trace.to_json().encode()).to_dict() == trace.to_dict()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", 2),
        ("index", 3),
        ("index", -1),
        ("more", 1),
        ("step.order", "nobody's"),
        ("step.throw", 5000),
        ("step.throw", 1),
        ("step.skipped", ["<b>"]),
        ("step.raw_pick.prob", 2),
        ("step.crossing.probs", [0.5]),
        ("step.trace.prompt_ids", []),
        ("step.trace.config.method", "greedy"),
        ("step.trace.config.max_new_tokens", 7),
        ("step.trace.config.shaping.top_p", 7),
        ("step.trace.config.shaping.constraint", ["regex", "a"]),
        ("step.trace.steps", []),
        (
            "step.trace.steps.0.stages",
            lambda stages: [stages[0], stages[2], stages[1], *stages[3:]],
        ),
        ("flips.0.name", "top_k"),
        ("flips.0.name", "prompt"),
        ("flips.0.pieces.0.high", 90),
        ("flips", None),
        ("rolls.total", 7),
        ("rolls.bins.0.rolls", float("nan")),
        ("sweep.probs.0", [0.5]),
        ("sweep.kept", []),
        ("continuations.config.method", "greedy"),
        ("continuations.rows.0.finish_reason", "because"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_in_one_sentence(stored, path, value) -> None:
    with pytest.raises(TraceError) as raised:
        read_any(json.dumps(changed(plain(stored), path, value)).encode())
    assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


def test_a_file_of_the_model_s_numbers_agrees_with_it_and_a_forged_one_does_not(stored) -> None:
    config, order = stored.step.config, stored.step.order
    again = lab_step(make_scene(), config, order, stored.step.throw, "a prompt")  # type: ignore[arg-type]
    assert agrees(read_any(lab_bytes(stored)).step, again)  # type: ignore[union-attr]
    for path, value in (
        ("step.text_before", "another"),
        ("step.trace.steps.0.candidates.logit.0", 9.0),
        ("step.trace.steps.0.stages.1.probs.0", 0.9),
        ("step.trace.steps.0.stages.2.removed_mass", 0.9),
        ("step.trace.steps.0.draw.uniform", 0.001),
    ):
        data = changed(plain(stored), path, value)
        assert not agrees(read_any(json.dumps(data).encode()).step, again)  # type: ignore[union-attr]
