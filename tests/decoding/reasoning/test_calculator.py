"""The calculator computes exactly and runs nothing, whatever is written between its marks."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from core.decoding.reasoning.calculator import (
    MAX_LENGTH,
    CalculatorError,
    call_at_end,
    evaluate,
    format_value,
    result_of,
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("4821*377", "1817517"),
        (" 7 + 5 * 3 ", "22"),
        ("(7+5)*3", "36"),
        ("7-5-1", "1"),
        ("64/8/4", "2"),
        ("-3--4", "1"),
        ("2*-3", "-6"),
        ("0.1+0.2", "0.3"),
        (".5*4", "2"),
        ("007", "7"),
        ("1/3", "0.333333333333"),
        ("2/3", "0.666666666667"),
        ("-1/8", "-0.125"),
        ("1000000/3", "333333.333333"),
        ("1/3000", "0.000333333333333"),
        ("999999999999999999*999999999999999999", str(999999999999999999**2)),
        ("2000000000000001/2", "1000000000000000"),
    ],
)
def test_sums_come_out_exactly(expression, value) -> None:
    assert result_of(expression) == value


def test_random_expressions_equal_python_s_own_fractions() -> None:
    rng = random.Random(3)

    def grow(depth: int) -> tuple[str, Fraction]:
        if depth == 0:
            number = rng.randint(0, 99)
            return str(number), Fraction(number)
        (left, a), (right, b) = grow(depth - 1), grow(rng.randrange(depth))
        sign = rng.choice("+-*/" if b else "+-*")
        value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
        return f"({left}{sign}{right})", value

    for _ in range(200):
        expression, value = grow(rng.randint(1, 4))
        assert evaluate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "9**9**9",
        "9**9",
        "2^10",
        "1e999",
        "0x10",
        "1_000",
        "9//2",
        "7%2",
        "1 2",
        "1.2.3",
        "",
        " ",
        "()",
        "(1",
        "1)",
        "1+",
        "*1",
        "1/0",
        "1/(2-2)",
        "nan",
        "inf",
        "abs(1)",
        "1;2",
        "lambda:0",
        "٣+٤",
        "１+１",
        "²+1",
        "1\x00",
        "9" * 10_000,
        "1+" * 5_000 + "1",
        "(" * 10_000 + "1" + ")" * 10_000,
        "(" * 60 + "1" + ")" * 60,
        "-" * 150 + "1",
    ],
)
def test_anything_else_is_an_error_and_nothing_runs(expression) -> None:
    with pytest.raises(CalculatorError):
        evaluate(expression)
    assert result_of(expression) == "error"


def test_the_longest_expressions_stay_small() -> None:
    longest = ("9" * 99 + "*" + "9" * 99)[:MAX_LENGTH]
    assert len(result_of(longest)) <= MAX_LENGTH
    nested = "(" * 20 + "1" + ")" * 20
    assert result_of(nested) == "1"
    assert len(result_of("1/" + "7" * 150)) < 2 * MAX_LENGTH
    assert format_value(Fraction(1, 10**150)) == "0." + "0" * 149 + "1"


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("so <call>1+1<result>", "1+1"),
        ("<call>1<call>2<result>", "2"),
        ("<call><result>", ""),
        ("<call>1+1<result> ", None),
        ("1+1<result>", None),
        ("<call>1+1<result>2</result>, so <result>", None),
        ("<call>" + "1" * 1000 + "<result>", None),
        ("", None),
    ],
)
def test_a_call_is_what_stands_between_its_marks_at_the_end(text, expression) -> None:
    assert call_at_end(text) == expression
