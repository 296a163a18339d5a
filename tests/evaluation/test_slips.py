"""Remarks on calls whose numbers the question lacks, and on answers that differ from the call."""

from __future__ import annotations

import pytest

from core.decoding.reasoning.types import CalculatorCall
from core.evaluation.slips import slips


def call(expression: str, result: str) -> CalculatorCall:
    return CalculatorCall(expression, result, 0, 0)


@pytest.mark.parametrize(
    ("question", "calls", "answer"),
    [
        ("What is 4821 * 377?", [call("4821*377", "1817517")], "1817517"),
        ("What is 1,200 plus 0.50?", [call("1200+.5", "1200.5")], "1200.5"),
        ("7 * 8 + 9?", [call("7*8", "56"), call("56+9", "65")], "65"),
        ("7 / 0?", [call("7/0", "error")], "3"),
        ("7 * 8?", [call("7*8", "56")], None),
        ("7 * 8?", [call("7*8", "")], "5"),
        ("7 * 8?", [], "5"),
    ],
)
def test_what_was_copied_is_not_mentioned(question, calls, answer) -> None:
    assert slips(question, calls, answer) == ()


def test_numbers_that_nobody_gave_and_an_answer_that_no_call_gave_are_named() -> None:
    wrong = [call("99999*9999", "999890001")]
    assert slips("What is 99999999^3?", wrong, "9998900") == (
        "Called with what is not in the question: 99999, 9999.",
        "The answer, 9998900, is not what the calculator gave.",
    )
    (many,) = slips("?", [call("1+2+3+4+1", "11")], "11")
    assert many.endswith(": 1, 2, 3, ….")
