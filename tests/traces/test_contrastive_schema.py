"""Trace files of contrastive search: they come back whole, and forged ones are refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from core import ContrastiveSearch, Greedy, Trace, collect, read_trace
from tests.models.builders import random_language_model
from tests.traces.reading import refusal


@pytest.fixture(scope="module")
def trace() -> Trace:
    return collect(random_language_model("llama"), "the fox", ContrastiveSearch(max_new_tokens=3))


@pytest.fixture(scope="module")
def file(trace) -> dict[str, Any]:
    return json.loads(trace.to_json())


def test_a_file_comes_back_whole(trace, file) -> None:
    assert read_trace(trace.to_json().encode()) == trace
    assert set(file["steps"][1]["compared"]) == {
        "token_id", "text", "prob", "penalty", "score"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda step: step.pop("compared"), "compares tokens exactly where"),
        (lambda step: step["compared"]["token_id"].__setitem__(1, step["compared"]["token_id"][0]),
         "compared twice"),
        (lambda step: step["compared"]["penalty"].__setitem__(0, "x"), "valid number"),
        (lambda step: step["compared"]["score"].__setitem__(
            step["compared"]["token_id"].index(step["token_id"]), -9.0), "not the highest score"),
        (lambda step: step["compared"]["score"].pop(), "columns differ in length"),
        (lambda step: step["compared"].update(more=[1]), "no field of it"),
        (lambda step: step["compared"]["prob"].__setitem__(0, "1"), "valid number"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_refused(file, change, said) -> None:
    wrong = copy.deepcopy(file)
    change(wrong["steps"][2])
    assert said in refusal(wrong)


def test_a_greedy_run_that_compares_tokens_is_refused(file) -> None:
    run = collect(random_language_model("llama"), "the fox", Greedy(max_new_tokens=3)).to_dict()
    assert all("compared" not in step for step in run["steps"])
    run["steps"][1]["compared"] = file["steps"][1]["compared"]
    assert "compares tokens exactly where" in refusal(json.loads(json.dumps(run)))
