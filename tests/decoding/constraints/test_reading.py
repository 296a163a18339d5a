"""Numbers of a constraint along a run: mass, forced tokens, refused ones, and places in JSON."""

from __future__ import annotations

import json
import math
import random
from itertools import combinations

import pytest

from core import Greedy, Sampling, Shaping, collect, load_model
from core.decoding.constraints.reading import constrained_steps, pointer_of, text_logprob
from core.decoding.constraints.value import Constraint, constraint_in
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures import constraint_masses, constraint_masses_data
from core.figures.base.labels import NBSP
from core.figures.base.measure import text_width
from core.figures.base.paper import SCREEN, WIDE, printed
from core.models.scripted import ScriptedModel
from tests.figures.traces import make_trace


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
    masses = [math.log(0.48), math.log(0.3), math.log(0.02)]
    assert list(figure.data[0].y) == pytest.approx(masses, abs=1e-6)
    assert (
        "difference −" in figure.layout.meta["subtitle"]
        and "-" not in figure.layout.meta["subtitle"]
    )
    # Bars go down from 0, the likeliest tokens' marks stand at ln p, and the numbers are level.
    bottom, top = figure.layout.yaxis.range
    assert bottom < math.log(0.02) and top == 0
    marks = next(trace for trace in figure.data if trace.name == "not allowed")
    assert list(marks.y) == pytest.approx([math.log(0.5)] * 3, abs=1e-6)
    notes = [note for note in figure.layout.annotations if note.name == "S"]
    assert {note.x: note.text for note in notes} == {
        1: f"48.0{NBSP}%",
        2: f"30.0{NBSP}%",
        3: f"2.0{NBSP}%",
    }
    assert not any(note.textangle for note in notes)


def test_the_price_is_compared_per_token() -> None:
    probs = [0.02, 0.5, 0.3, 0.18]
    model = ScriptedModel({(): probs}, tokens=["<end>", "a", "b", "c"])
    shaping = Shaping(constraint=Constraint("regex", "bb"))
    trace = collect(model, "a", Greedy(shaping=shaping))
    free = collect(model, "a", Greedy(max_new_tokens=5))
    assert [len(run.token_ids) for run in (trace, free)] == [3, 5]
    here, there = (2 * math.log(0.3) + math.log(0.02)) / 3, math.log(0.5)
    subtitle = constraint_masses(trace, free=free).layout.meta["subtitle"].replace("−", "-")
    assert f"Per token {here:.2f} here and {there:.2f} there" in subtitle
    assert f"is {there - here:.2f} nats per token less likely" in subtitle
    other_way = constraint_masses(trace, free=_of_rare_tokens(model)).layout.meta["subtitle"]
    assert "nats per token more likely" in other_way


def _of_rare_tokens(model: ScriptedModel) -> Trace:
    """Return a run without a constraint whose tokens have the probability 2 %."""
    return collect(model, "a", Greedy(max_new_tokens=1), given=[0])


@pytest.mark.parametrize("paper", [SCREEN, WIDE, printed("85mm")])
@pytest.mark.parametrize("count", [4, 12, 40])
def test_numbers_never_meet_and_the_lowest_mass_always_has_one(paper, count: int) -> None:
    trace = make_trace(count, shaping=Shaping(constraint=constraint_in("regex=( .){2}")))
    steps = constrained_steps(trace)
    assert len(steps) == count
    figure = constraint_masses(trace, paper=paper)
    notes = [note for note in figure.layout.annotations if note.name == "S"]
    lowest = min(steps, key=lambda step: step.log_mass)
    assert nth(lowest.at_step) in [note.x for note in notes]
    first, last = figure.layout.xaxis.range
    margin = figure.layout.margin
    column = (paper.width - margin.l - margin.r) / (last - first)
    sizes = [11 if note.textangle else text_width(note.text, 10.5) for note in notes]
    for (a, wide), (b, other) in combinations(
        zip([note.x for note in notes], sizes, strict=True), 2
    ):
        assert abs(a - b) * column >= (wide + other) / 2
    if count == 4 or (paper.width > 800 and count == 12):
        assert len(notes) == count and not any(note.textangle for note in notes)


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
