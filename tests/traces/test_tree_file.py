"""A tree of runs as a file that anyone may have written: round trips, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from core import Sampling, TraceError, collect
from core.decoding.autoregressive.branches import branch
from core.decoding.record.tree import MAX_RUNS, Branch, RunTree
from core.traces.file import read_trace
from core.traces.tree_file import read_tree, tree_json
from tests.models.builders import random_language_model


@cache
def grown_tree() -> RunTree:
    """A run, two that went on from it, and one that went on from the second."""
    model = random_language_model("llama")
    first = collect(model, [5, 6, 7], Sampling(max_new_tokens=9, seed=2))
    tree = RunTree.of(first)
    for parent, at in ((0, 2), (0, 5), (1, 6)):
        trace = tree.branches[parent].trace
        token_id = trace.token_steps[at].candidates[1].token_id
        tree = tree.grown(parent, at, branch(model, trace, at, [token_id]))
    return tree


def _plain() -> Any:
    return json.loads(tree_json(grown_tree()))


def _bytes(data: Any) -> bytes:
    return json.dumps(data).encode()


def test_a_tree_comes_back() -> None:
    tree = grown_tree()
    assert read_tree(tree_json(tree).encode()) == tree
    assert [b.name for b in tree.branches] == ["Run 1", "Run 2", "Run 3", "Run 4"]


def test_a_tree_read_as_one_run_is_said_to_be_a_tree() -> None:
    with pytest.raises(TraceError, match="holds a tree of runs"):
        read_trace(tree_json(grown_tree()).encode())


def test_a_run_has_the_sum_of_its_tokens_log_probabilities() -> None:
    run = grown_tree().branches[3]
    probs = [step.chosen.raw_prob for step in run.trace.token_steps]
    product = 1.0
    for prob in probs:
        product *= prob
    assert 2.718281828459045**run.logprob == pytest.approx(product, rel=1e-4)


def test_the_runs_behind_a_removed_one_take_its_parent() -> None:
    tree = grown_tree().without(1)
    assert [(b.name, b.parent, b.at_step) for b in tree.branches] == [
        ("Run 1", None, 0),
        ("Run 3", 0, 5),
        ("Run 4", 0, 2),
    ]
    with pytest.raises(TraceError, match="first run of a tree stays"):
        tree.without(0)


def test_no_more_than_the_most_runs_are_taken() -> None:
    tree = grown_tree()
    while len(tree.branches) < MAX_RUNS:
        tree = tree.grown(0, 0, tree.branches[0].trace)
    with pytest.raises(TraceError, match=f"1 to {MAX_RUNS} runs"):
        tree.grown(0, 0, tree.branches[0].trace)
    data = json.loads(tree_json(tree))
    data["branches"].append(data["branches"][1])
    with pytest.raises(TraceError, match="branches"):
        read_tree(_bytes(data))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(schema="decoding-explorer/trace"), "schema differs"),
        (lambda data: data.update(version=2), "version 2"),
        (lambda data: data.update(branches=[]), "branches"),
        (lambda data: data["branches"][0].update(parent=0), "needs a parent before it"),
        (lambda data: data["branches"][1].update(parent=None), "needs a parent before it"),
        (lambda data: data["branches"][1].update(parent=1), "needs a parent before it"),
        (lambda data: data["branches"][1].update(parent=3), "needs a parent before it"),
        (lambda data: data["branches"][1].update(at_step=3), "other tokens before step 4"),
        (lambda data: data["branches"][2].update(at_step=500), "other tokens before step 501"),
        (lambda data: data["branches"][1].update(extra=1), "no field of it"),
        (lambda data: data["branches"][1]["trace"].update(prompt_ids=[1, 2]), "model or prompt"),
        (lambda data: data["branches"][1]["trace"].update(model_id="other"), "model or prompt"),
        (lambda data: data["branches"][1]["trace"]["steps"][1].update(origin="x"), "origin"),
        (lambda data: data["branches"][1].pop("trace"), "trace"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(change, words) -> None:
    data = _plain()
    change(data)
    with pytest.raises(TraceError, match=words) as caught:
        read_tree(_bytes(data))
    sentence = str(caught.value)
    assert len(sentence) < 400
    assert sentence.endswith(".") and not sentence.endswith("..")


def test_a_file_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(TraceError, match="larger than"):
        read_tree(tree_json(grown_tree()).encode(), max_bytes=1000)


def test_runs_of_two_prompts_are_no_tree() -> None:
    first = grown_tree().branches[0].trace
    with pytest.raises(TraceError, match="model or prompt"):
        RunTree((Branch(None, 0, "a", first), Branch(0, 0, "b", replace(first, prompt_ids=(1,)))))
