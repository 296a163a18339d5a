"""Files whose rows lie: what follows from other fields is computed, what can't be is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.decoding.errors import EvaluationError, SweepError
from core.evaluation.example import example_from_dict
from core.evaluation.plan.derived import ends_with
from core.evaluation.plan.files import EVALUATIONS, read_evaluation
from core.evaluation.plan.statistics import paired, results
from core.evaluation.row_file import encoded_line
from core.evaluation.runner import PlanWork
from core.evaluation.sweep.curves import curve, curves_by_steps
from core.evaluation.sweep.files import SWEEPS, read_sweep
from core.evaluation.sweep.types import BudgetSweep
from tests.figures.reasons import make_sweep

ASSETS = Path(__file__).parents[2] / "assets"
LEAK = (ASSETS / "evaluation/leak.jsonl").read_bytes()
EXAMPLE = json.loads((ASSETS / "traces/reasoning.json").read_text(encoding="utf-8"))


def forged(data: bytes, **fields) -> bytes:
    """An evaluation's file with these fields in every row."""
    head, *rows = data.splitlines()
    return head + b"\n" + b"".join(encoded_line(json.loads(row) | fields) for row in rows)


def forged_sweep(sweep: BudgetSweep, **fields) -> bytes:
    head = SWEEPS.content(sweep.plan, ())
    rows = (
        dict(zip(SWEEPS.columns, SWEEPS.row_to_json(row), strict=True)) | fields
        for row in sweep.rows
    )
    return head + b"".join(encoded_line(list(row.values())) for row in rows)


@pytest.mark.parametrize(
    "lie",
    [
        {"right": True, "counted": "exact"},
        {"right": False, "counted": ""},
        {"f1": 1.0},
        {"leaks": []},
        {"leaks": [[0, 1, "role mark"]]},
    ],
    ids=str,
)
def test_an_evaluations_figures_are_those_of_its_texts(lie) -> None:
    true, read = read_evaluation(LEAK), read_evaluation(forged(LEAK, **lie))
    assert read == true
    assert results(read) == results(true) and results(true)[1].correct.value < 0.5
    names = [way.name for way in true.plan.ways[:2]]
    assert paired(read, *names) == paired(true, *names)


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"reply": "Paris"}, r"Line \d+.*its reply is not what its text ends with"),
        ({"accepted": 5, "drafted": 4}, "Line 2.*0 or more, got -1"),
        ({"tokens": -1}, "Line 2.*0 or more, got -1"),
        ({"seconds": float("nan")}, "Line 2"),
        ({"question": "none"}, "Line 2 .* is no run of its plan"),
    ],
    ids=str,
)
def test_what_an_evaluations_row_contradicts_is_refused(lie, sentence) -> None:
    with pytest.raises(EvaluationError, match=sentence):
        read_evaluation(forged(LEAK, **lie))


def test_a_run_is_resumed_on_true_rows(tmp_path: Path) -> None:
    path, true = tmp_path / "rows.jsonl", read_evaluation(LEAK)
    path.write_bytes(forged(LEAK, right=True, counted="exact", f1=1.0))
    assert EVALUATIONS.extend(path, PlanWork(true.plan, lambda: None)) == true.rows


@pytest.mark.parametrize("lie", ["correct", "wrong", "truncated", "unparsable"])
def test_a_sweeps_outcomes_follow_from_answer_and_truth(lie) -> None:
    example = example_from_dict(EXAMPLE)
    for sweep in (example.sweep, example.cut, read_sweep(forged_sweep(make_sweep()))):
        read = read_sweep(forged_sweep(sweep, outcome=lie, steps=1))
        assert read == sweep
        assert curve(read.rows) == curve(sweep.rows)
        assert curves_by_steps(read.rows) == curves_by_steps(sweep.rows)


@pytest.mark.parametrize(
    "lie", [{"expected": "5"}, {"thinking_tokens": 10_000}, {"tokens": -1}, {"seconds": -1.0}]
)
def test_what_a_sweeps_row_contradicts_is_refused(lie) -> None:
    with pytest.raises(SweepError, match="Line 2 "):
        read_sweep(forged_sweep(make_sweep(), **lie))


def set_all(value, **fields):
    """The same JSON value with these fields wherever they are."""
    if isinstance(value, dict):
        return {name: fields.get(name, set_all(item, **fields)) for name, item in value.items()}
    return [set_all(item, **fields) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("part", "lie"),
    [
        ("vote", {"outcome": "wrong", "answer": "1"}),
        ("vote", {"ballots": [["7", 8]], "margin": 8, "best": 1, "verified": 2, "rewarded": 3}),
        ("vote", {"scores": [0.0] * 8}),
        ("strip", {"outcome": "correct", "answer": "1"}),
        ("tools", {"outcome": "correct", "thinking_tokens": 1, "answer_text": "4", "answer": "4"}),
        ("best_of", {"right": True, "passed": True}),
    ],
    ids=str,
)
def test_the_reasoning_examples_verdicts_are_those_of_its_texts(part, lie) -> None:
    spoiled = set_all(EXAMPLE[part], **lie)
    if part == "tools":
        for at, (forged, true) in enumerate(zip(spoiled, EXAMPLE[part], strict=True)):
            # A problem's own answer is what its run is judged by.
            spoiled[at] = forged | {"problem": true["problem"]}
    elif part in ("vote", "strip"):
        spoiled["problem"] = EXAMPLE[part]["problem"]
    assert spoiled != EXAMPLE[part]
    read = example_from_dict(EXAMPLE | {part: spoiled})
    assert getattr(read, part) == getattr(example_from_dict(EXAMPLE), part)


def test_the_reasoning_examples_rivals_have_their_own_intervals() -> None:
    rivals = [rival | {"correct": [24, 24, 1.0, 1.0]} for rival in EXAMPLE["rivalry"]["rivals"]]
    read = example_from_dict(EXAMPLE | {"rivalry": EXAMPLE["rivalry"] | {"rivals": rivals}})
    assert all(0.8 < rival.correct.low < 0.9 for rival in read.rivalry.rivals)
    rivals[0]["correct"] = [240, 240, 1.0, 1.0]
    with pytest.raises(SweepError, match="damaged"):
        example_from_dict(EXAMPLE | {"rivalry": EXAMPLE["rivalry"] | {"rivals": rivals}})


@pytest.mark.parametrize(
    ("text", "reply", "whole"),
    [
        ("It is Paris.", "It is Paris.", True),
        ("It is not Paris.", "Paris.", False),
        ("<think>Hm, Rome?</think> It is <b> Paris.<|user|>", "It is <b> Paris.", True),
        ("<think>Hm, Rome?</think> It is Paris.", "Rome?", False),
        ("<think>Hm, Rome?", "", True),
        ("It is Rome.", "", False),
        ("", "", True),
        ("[THINK]a[/THINK] b", "b", True),
    ],
)
def test_a_reply_is_all_behind_a_special_token(text: str, reply: str, whole: bool) -> None:
    assert ends_with(text, reply) is whole
