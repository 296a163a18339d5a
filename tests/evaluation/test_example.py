"""The stored reasoning example: a real sweep that opens without a model, and what it must show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import check
from core.decoding.errors import SweepError
from core.evaluation.example import BUDGETS, example_from_dict, example_to_dict, load_example
from core.evaluation.sweep.curves import curve, curves_by_steps

ROOT = Path(__file__).parents[2]
STORED = ROOT / "assets" / "traces" / "reasoning.json"


@pytest.fixture(scope="module")
def example():
    return load_example(STORED)


def test_the_example_survives_json_and_is_small(example) -> None:
    assert example_from_dict(json.loads(json.dumps(example_to_dict(example)))) == example
    assert STORED.stat().st_size < 260_000


def test_it_holds_whole_sweeps_of_the_embedded_model(example) -> None:
    for sweep in (example.sweep, example.cut):
        assert sweep.complete and sweep.plan.model_id == "embedded:target"
        assert {row.steps for row in sweep.rows} == set(range(1, 9))
    points = curve(example.sweep.rows)
    assert tuple(point.budget for point in points) == BUDGETS
    assert points[0].correct.value < 0.4 and points[-1].correct.value > 0.85
    assert len(curves_by_steps(example.sweep.rows)) == 8
    assert curve(example.cut.rows)[0].outcomes["truncated"] > 0
    assert not any(row.closed_by_budget for row in example.cut.rows)


def test_its_run_proves_itself_and_its_strip_shows_the_answer_change(example) -> None:
    assert [c.name for c in check(example.run) if not c.passed] == []
    assert example.run.checks and all(outcome.passed for outcome in example.run.checks)
    outcomes = [point.outcome for point in example.strip.points]
    assert outcomes[0] == "wrong" and outcomes[-1] == "correct" and example.strip.knew_at
    spoken = "".join(p.piece for p in example.strip.points)
    assert spoken and spoken in example.run.text


@pytest.mark.parametrize(
    "part", ["schema", "version", "sweep", "rivalry", "vote", "strip", "run", "tools"]
)
def test_a_damaged_example_is_refused_with_one_sentence(part, tmp_path) -> None:
    data = json.loads(STORED.read_text(encoding="utf-8"))
    for damaged in ({**data, part: None}, {k: v for k, v in data.items() if k != part}):
        path = tmp_path / "example.json"
        path.write_text(json.dumps(damaged), encoding="utf-8")
        with pytest.raises(SweepError, match="reasoning example"):
            load_example(path)
    for text in ("{", "[" * 100_000, "[]"):
        path.write_text(text)
        with pytest.raises(SweepError, match="reasoning example"):
            load_example(path)
    with pytest.raises(SweepError, match="can't be opened"):
        load_example(tmp_path / "none.json")
