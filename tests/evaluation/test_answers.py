"""The answer in a text, and the outcome of the run."""

from __future__ import annotations

from time import thread_time

import pytest

from core.evaluation.scoring.answers import find_answer, judge, normal_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("36", "36"),
        (" 036 ", "36"),
        ("1,234,567", "1234567"),
        ("1,234.50", "1234.5"),
        ("-0", "0"),
        ("0.0", "0"),
        (".5", "0.5"),
        ("-7.250", "-7.25"),
        ("−7", "-7"),
        ("+12", "12"),
        ("+-12", None),
        ("100", "100"),
        ("1,23", None),
        ("1.5e3", "1500"),
        ("1e99", None),
        ("4/8", "0.5"),
        ("-2/6", "-1/3"),
        ("2 1/2", "2.5"),
        ("1½", "1.5"),
        ("1/0", None),
        (r"\frac{1}{2}", "0.5"),
        ("４２", "42"),
        ("1 000 000", "1000000"),
        ("5 6 7", None),
        ("1\u202f000", "1000"),
        ("$5.50", None),
        ("3:15", None),
        ("2-3", None),
        ("٣", None),
        ("x", None),
        ("", None),
        ("9" * 61, None),
        ("nan", None),
    ],
)
def test_numbers_have_one_spelling(text, number) -> None:
    assert normal_number(text) == number


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is 36.", "36"),
        ("The answer is 36. That is 3 dozen.", "36"),
        ("the Answer: $1,250", "1250"),
        ("First I said the answer is 3. No: the answer is 4.", "4"),
        (r"So \boxed{ 42 } is it, of 50.", "42"),
        ("7 apples and 5 pears make 12 fruits.", "12"),
        ("It is -5 degrees", "-5"),
        ("It is 3.5", "3.5"),
        ("12 - 5 = 7", "7"),
        ("The answer is **42**. I checked it in 3 steps.", "42"),
        ("**The answer is `42`.** 3 checks", "42"),
        ("The answer is 6 × 7 = 42, found in 3 steps", "42"),
        ("The answer is x = 42, of 50", "42"),
        ("The answer is 1/2.", "0.5"),
        ("The answer is 1 500.", "1500"),
        (r"\boxed{3\ 000}", "3000"),
        ("In 2020 300 people", "300"),
        ("24 / 2 = 12, so\n#### 1,012\nin 3 steps", "1012"),
        (r"So \boxed{10{,}000}, in 3 steps", "10000"),
        (r"\boxed{-\frac{1}{2}}, of 3", "-0.5"),
        (r"\boxed{x = \text{\textbf{42} km}}, of 3", "42"),
        (r"\boxed{\$42} and \boxed{}, of 3", "42"),
        (r"\boxed{3, 4}, of 5", None),
        ("= 42", "42"),
        ("42.", "42"),
        ("１，２００円です", "1200"),
        ("答えは４２です。３回確認しました。", "42"),
        ("정답은 42입니다. 3번 확인했습니다.", "42"),
        ("It lost -$5.50", "-5.5"),
        ("It lost −5", "-5"),
        ("1.5 × 10^3", "1500"),
        ("At 3:15, 2-3 of 10.2.1 on 2020-01-05 with odds 3:2", None),
        ("12-5=7", "7"),
        ("x1 is no number, nor is v2", None),
        ("None at all.", None),
        ("", None),
    ],
)
def test_the_answer_is_boxed_or_said_or_the_last_number(text, answer) -> None:
    assert find_answer(text) == answer


@pytest.mark.parametrize(
    ("text", "reason", "outcome"),
    [
        ("The answer is 36.", "eos", ("36", "correct")),
        ("36", "eos", ("36", "correct")),
        ("The answer is 35.", "eos", ("35", "wrong")),
        ("The answer is", "eos", (None, "unparsable")),
        ("", "eos", (None, "unparsable")),
        ("", "length", (None, "truncated")),
        ("The answer is", "length", (None, "truncated")),
        ("The answer is 36", "length", (None, "truncated")),
        ("The answer is 36,", "length", (None, "truncated")),
        ("The answer is 36.", "length", ("36", "correct")),
        ("The answer is 36 because", "length", ("36", "correct")),
        ("The answer is 3", "stop", ("3", "wrong")),
        ("", "cancelled", (None, "truncated")),
        ("36.", "length", ("36", "correct")),
        ("36\n", "length", ("36", "correct")),
        ("First 12 + 5 = ", "length", (None, "truncated")),
        ("The answer is 12 + ", "length", (None, "truncated")),
        ("The answer is 36.5 + 1", "length", (None, "truncated")),
        ("36 apples", "length", (None, "truncated")),
        (r"\boxed{36}", "length", ("36", "correct")),
        ("The answer is 30 + 6 = 36.", "eos", ("36", "correct")),
        ("3059*", "length", (None, "truncated")),
        ("<call>3059*<", "length", (None, "truncated")),
        ("<call>30*12<result>360</result>", "length", (None, "truncated")),
        ("<call>13580/70<result>194</result>The answer", "length", (None, "truncated")),
        ("<call>6*6<result>36</result>The answer is 36.", "length", ("36", "correct")),
        ("<call>6*6<result>36</result>", "eos", ("36", "correct")),
        ("<call>6*6", "eos", (None, "unparsable")),
    ],
)
def test_outcomes(text, reason, outcome) -> None:
    assert judge(text, "36", reason) == outcome


@pytest.mark.parametrize(
    "piece", [" ", "\n", "answer ", "<call>", "1,222", "\\boxed{ ", "１", "1 1/2 "]
)
def test_a_long_text_is_read_at_once(piece) -> None:
    """Every page reads its run's text again at each rerun, and a file may hold a stranger's."""
    began = thread_time()
    find_answer(f"The answer{piece * 20_000}x")
    find_answer(f"The answer{piece * 20_000}x", cut=True)
    assert thread_time() - began < 0.5
