"""Numbers of a constraint along a run: mass, forced tokens, refused ones, and places in JSON."""

from __future__ import annotations

import json
import math
import random

import pytest

from core import Sampling, Shaping, collect, load_model
from core.decoding.constraints.reading import constrained_steps, pointer_of, text_logprob
from core.decoding.constraints.value import Constraint
from core.figures import constraint_masses, constraint_masses_data
from core.figures.base.labels import NBSP
from core.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("", ""),
        ("{", ""),
        ('{"na', ""),
        ('{"name"', "/name"),
        ('{"name": "A, [B', "/name"),
        ('{"name": "A", ', ""),
        ('{"a": [1, {"b": ', "/a/1/b"),
        ('{"a": [1, {"b": 2}], "c": t', "/c"),
        ("[[], [1, 2", "/1/1"),
        ('{"x/y~": "\\"', "/x~1y~0"),
        ('{"\\u00e9": 1', "/é"),
        ("]]}", ""),
    ],
)
def test_the_pointer_names_the_value_at_the_end(text, pointer) -> None:
    assert pointer_of(text) == pointer


def test_the_pointers_of_a_whole_text_lead_to_its_values() -> None:
    dice = random.Random(0)

    def value(depth: int = 0):
        kind = dice.choice(["number", "text", "list", "object"] if depth < 3 else ["number"])
        if kind == "list":
            return [value(depth + 1) for _ in range(dice.randint(1, 3))]
        if kind == "object":
            keys = dice.sample(["a", "b/c", "~", 'say "x"', "é"], dice.randint(1, 3))
            return {key: value(depth + 1) for key in keys}
        return dice.randint(1000, 9999) if kind == "number" else "text, {}[]:"

    for _ in range(100):
        whole = value()
        text = json.dumps(whole, ensure_ascii=False)
        for at, char in enumerate(text):
            if not char.isdigit():
                continue
            found = whole
            for part in pointer_of(text[: at + 1]).split("/")[1:]:
                key = part.replace("~1", "/").replace("~0", "~")
                found = found[int(key)] if isinstance(found, list) else found[key]
            assert str(found).count(char)


def test_the_numbers_of_a_step_follow_from_the_model() -> None:
    probs = [0.02, 0.5, 0.3, 0.18]
    model = ScriptedModel({(): probs}, tokens=["<end>", "a", "b", "c"])
    shaping = Shaping(constraint=Constraint("regex", "[bc]b"))
    trace = collect(model, "a", Sampling(seed=1, shaping=shaping))
    steps = constrained_steps(trace)
    assert [step.allowed for step in steps] == [2, 1, 1]
    assert [step.forced for step in steps] == [False, True, True]
    assert [step.log_mass for step in steps] == pytest.approx(
        [math.log(0.48), math.log(0.3), math.log(0.02)], abs=1e-6
    )
    assert [step.wanted.token_id for step in steps] == [1, 1, 1]
    assert [step.place for step in steps] == ["", trace.text[0], trace.text]
    own = math.log(0.3 if trace.text[0] == "b" else 0.18) + math.log(0.3) + math.log(0.02)
    assert text_logprob(trace) == pytest.approx(own, abs=1e-6)
    table = constraint_masses_data(trace)
    assert list(table["mass"]) == pytest.approx([0.48, 0.3, 0.02], abs=1e-6)
    assert list(table["forced"]) == [False, True, True]
    figure = constraint_masses(trace, free=trace)
    assert list(figure.data[0].y) == pytest.approx([0.48, 0.3, 0.02], abs=1e-6)
    assert "= −" in figure.layout.meta["subtitle"] and "-" not in figure.layout.meta["subtitle"]
    assert figure.layout.yaxis.ticktext[-1] == f"100{NBSP}%"


def test_a_tiny_mass_keeps_its_logarithm() -> None:
    model = load_model("embedded:target")
    schema = Constraint(
        "json", '{"type": "object", "properties": {}, "additionalProperties": false}'
    )
    trace = collect(model, "Once upon a time", Sampling(shaping=Shaping(constraint=schema)))
    assert trace.text == "{}"
    for step, read in zip(trace.token_steps, constrained_steps(trace), strict=True):
        if read.forced:
            assert read.log_mass == pytest.approx(-step.surprisal, rel=1e-6, abs=1e-6)
    assert min(read.log_mass for read in constrained_steps(trace)) < -8


def test_a_run_without_a_constraint_has_no_such_steps() -> None:
    trace = collect(load_model("embedded:target"), "Once", Sampling(max_new_tokens=3))
    assert constrained_steps(trace) == []
    assert "No constraint" in str(constraint_masses(trace).to_dict())
