"""Metrics beside lm-evaluation-harness': `harness.json` holds what its own functions returned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.evaluation.scoring.text import contains_text, is_exact, is_last_number, token_f1

# Where SQuAD's normalisation takes away what tells two answers apart: replies and answers that are
# articles alone, and signs, points and values of numbers; with the value here.
DEPARTURES = {
    ("", "the"): 0.0,
    ("an", "the"): 0.0,
    ("-5", "5"): 0.0,
    ("3.5", "35"): 0.0,
    ("½", "0.5"): 1.0,
    ("10.0", "10"): 1.0,
}
STORED = json.loads((Path(__file__).parent / "harness.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", STORED["cases"], ids=lambda case: repr(case["reply"][:20]))
def test_our_metrics_equal_the_harness_but_for_named_departures(case) -> None:
    reply, answers = case["reply"], [case["answer"]]
    ours = DEPARTURES.get((reply, case["answer"]))
    assert float(is_exact(reply, answers)) == (case["em"] if ours is None else ours)
    assert token_f1(reply, answers) == pytest.approx(case["f1"] if ours is None else ours)
    assert contains_text(reply, answers) == bool(case["contains"])
    assert float(is_last_number(reply, answers)) == case["gsm8k"]
