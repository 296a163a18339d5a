"""Reading a reasoning run that anyone may have written: its parts must belong together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core import Greedy, Reasoning, collect
from tests.evaluation.thinkers import ID, thinker
from tests.traces.reading import read, refusal


@pytest.fixture
def data() -> dict[str, Any]:
    """[<think>] a b c [Wait] [,] b [</think>] 4 . <end>"""
    config = Reasoning(ignore_end=1, wait_text="Wait,", max_thinking_tokens=6)
    return json.loads(collect(thinker(), [ID["q"]], config).to_json())


def step(data: dict[str, Any], index: int) -> dict[str, Any]:
    return data["steps"][1 + index]


def test_an_honest_file_is_read(data) -> None:
    assert read(data).to_dict() == data
    assert step(data, 4)["forced_as"] == "wait" and "forced_as" not in step(data, 1)


FAULTS = {
    "forced without a reason": (lambda d: step(d, 0).pop("forced_as"), "a reason"),
    "another reason": (lambda d: step(d, 0).update(forced_as="whim"), "forced_as"),
    "a reason of a chosen token": (lambda d: step(d, 1).update(forced_as="wait"), "a reason"),
    "instead of in a chosen token": (lambda d: step(d, 1).update(instead_of=3), "a reason"),
    "no stage": (lambda d: step(d, 0)["stages"].pop(1), "stage forced|at least|draw"),
    "a stage in a chosen token": (
        lambda d: step(d, 1)["stages"].insert(2, step(d, 0)["stages"][1]),
        "stage forced",
    ),
    "a draw that was none": (lambda d: step(d, 4)["draw"].update(method="forced"), "argmax|drawn"),
    "none where one was": (lambda d: step(d, 0).update(instead_of=3), "drawn"),
    "an id that can't be": (lambda d: step(d, 4).update(instead_of=-1), "instead_of"),
    "another phase": (lambda d: step(d, 4).update(phase="dreaming"), "phase"),
    "a bad setting": (lambda d: d["config"].update(max_thinking_tokens=-1), "max_thinking_tokens"),
    "a long mark": (lambda d: d["config"].update(think_end="x" * 2000), "think_end"),
    "another method": (lambda d: d.update(config={"method": "greedy"}), "only a reasoning run"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_does_not_belong_together_is_refused(data, fault) -> None:
    damage, words = FAULTS[fault]
    damage(data)
    sentence = refusal(data)
    assert any(word in sentence for word in words.split("|")), sentence


def test_other_methods_neither_think_nor_force() -> None:
    plain = json.loads(collect(thinker(), [ID["q"]], Greedy(max_new_tokens=3)).to_json())
    step(plain, 1)["phase"] = "thinking"
    assert "only a reasoning run" in refusal(plain)
