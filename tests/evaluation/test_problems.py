"""Problem sets: generated ones are held out from training, files are checked line by line."""

from __future__ import annotations

import json
import random
import re

import pytest

from core import ConfigError
from core.decoding.errors import ProblemError
from core.evaluation.questions.chains import HELD_OUT_OF, draw_chain, is_held_out
from core.evaluation.questions.hard_sums import draw_hard_sum
from core.evaluation.questions.names import set_words
from core.evaluation.questions.problems import (
    MAX_BYTES,
    MAX_PROBLEMS,
    make_hard_sums,
    make_problems,
    read_problems,
)
from core.language import tr, use


def test_the_rule_that_holds_problems_out_never_changes() -> None:
    """The stored model was trained on all but these: another rule would ask what it knows."""
    assert HELD_OUT_OF == 50
    assert is_held_out("4*8+10+30-19-18") and not is_held_out("33-21*3-6+27")
    rng = random.Random(11)
    drawn = [draw_chain(rng, n, held_out=held).key for n in (1, 4, 8) for held in (False, True)]
    assert drawn == [
        "29-29",
        "38+27",
        "33-21*3-6+27",
        "56-24-11-16*5",
        "58-11-19*7-5-25-16+21+23",
        "11+3+27-23-17+18+12*2+22",
    ]
    rng = random.Random(11)
    hard = [draw_hard_sum(rng, held_out=True).key for _ in range(3)]
    assert hard == ["502*4668", "38178/63", "22372-793"]


def test_generated_problems_are_held_out_distinct_and_right() -> None:
    problems = make_problems(64, seed=5).problems
    assert len({problem.key for problem in problems}) == 64
    assert all(is_held_out(problem.key) for problem in problems)
    assert [problem.steps for problem in problems[:9]] == [1, 2, 3, 4, 5, 6, 7, 8, 1]
    for problem in problems:
        assert 0 <= int(problem.answer) <= 199


def test_a_seed_fixes_the_set_and_a_larger_set_holds_the_smaller() -> None:
    assert make_problems(20, seed=1) == make_problems(20, seed=1)
    assert make_problems(20, seed=1) != make_problems(20, seed=2)
    smaller, larger = make_problems(20, seed=1).problems, make_problems(30, seed=1).problems
    assert larger[:16] == smaller[:16] and set(smaller) <= set(larger)
    assert make_hard_sums(5, seed=1) == make_hard_sums(5, seed=1)
    assert len({problem.key for problem in make_hard_sums(50).problems}) == 50


@pytest.mark.parametrize(
    ("count", "steps"),
    [(1, [5]), (2, [3, 7]), (3, [2, 5, 7]), (4, [2, 4, 6, 8]), (7, [1, 2, 3, 5, 6, 7, 8])],
)
def test_a_few_problems_are_spread_over_the_steps_and_the_name_says_which_ran(count, steps) -> None:
    made = make_problems(count, seed=7)
    assert [problem.steps for problem in made.problems] == steps
    assert made.name == f"chains of {','.join(map(str, steps))} steps, seed 7"
    more = make_problems(8 + count, seed=7)
    assert [problem.steps for problem in more.problems[8:]] == steps
    assert more.name == "chains of 1,2,3,4,5,6,7,8 steps, seed 7"


@pytest.mark.parametrize(
    ("count", "steps", "words"),
    [
        (0, [1], "problems must"),
        (MAX_PROBLEMS + 1, [1], "problems must"),
        (3, [0], "steps"),
        (3, [9], "steps"),
        (3, [], "steps"),
        (500, [1], "no more problems of 1 step "),
    ],
)
def test_what_can_t_be_generated_is_refused(count, steps, words) -> None:
    with pytest.raises(ConfigError, match=words):
        make_problems(count, steps=steps)


CSV = 'question,answer\n"What is 1, and 2?",3\n\nHow many?,"1,000"\n'


def test_a_csv_is_read_whatever_its_columns_order_and_line_ends() -> None:
    read = read_problems(CSV.encode(), name="mine", system="Think.")
    assert [(p.question, p.answer, p.key) for p in read.problems] == [
        ("What is 1, and 2?", "3", "line 2"),
        ("How many?", "1000", "line 4"),
    ]
    assert read.name == "mine" and read.problems[0].system == "Think."
    turned = "\ufeffid,Answer,Question\r\n7,5,Why?\r\n"
    assert read_problems(turned.encode()).problems[0].answer == "5"


def test_a_jsonl_may_hold_numbers_and_other_fields() -> None:
    rows = [{"question": "a\u2028b?", "answer": 7, "level": 2}, {"question": "c", "answer": "-0.5"}]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    problems = read_problems(text.encode()).problems
    assert [(p.question, p.answer) for p in problems] == [("a\u2028b?", "7"), ("c", "-0.5")]


def test_jsonl_numbers_are_taken_as_they_are_written() -> None:
    numbers = ("1e16", "0.00001", "1.50", "-0.0")
    rows = "\n".join(f'{{"question": "q", "answer": {number}}}' for number in numbers)
    answers = [problem.answer for problem in read_problems(rows.encode()).problems]
    assert answers == ["10000000000000000", "0.00001", "1.5", "0"]


def test_a_file_that_is_named_jsonl_is_read_as_jsonl() -> None:
    for first, words in ((b"5\n", "an object with question"), (b"why?\n", "is not JSON")):
        with pytest.raises(ProblemError, match=rf"Line 1.*{words}"):
            read_problems(first, name="mine.JSONL")
    assert len(read_problems(CSV.encode(), name="mine.json").problems) == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Line 1: the first line must name the columns"),
        (b"question\nx\n", "Line 1"),
        (b"question;answer\nx;1;2\n", "Line 2: 3 columns, the first line has 2"),
        (b"problem;result\nx;1\n", "the columns question and answer"),
        (b"question,answer\n", "holds no problem"),
        (b"question,answer\nx,1\ny\n", "Line 3: 1 columns, the first line has 2"),
        (b"question,answer\nx,1\ny,2,3\n", "Line 3: 3 columns"),
        (b"question,answer\nx,one\n", "Line 2: the answer must be a number, got 'one'"),
        (b'question,answer\n"a\nb",1\nx,\n', "Line 4: the answer"),
        (b"question,answer\n ,1\n", "Line 2: the question"),
        (b'question,answer\n"x,1\n', "Line 2 of the problems is no CSV"),
        (b'question,answer\nx,1\n"y,2\n' + b"z,3\n" * 50, "Line 3 of the problems is no CSV"),
        (b'[{"question": "x", "answer": 1}]', "one JSON list; write JSONL"),
        (b'\n[\n{"question": "x"', "one JSON list"),
        (b'{"question": "\\ud800", "answer": 1}\n', "Line 1: the question holds half a character"),
        (b'{"question": "x", "answer": 1e999999999}\n', "Line 1: the answer must be a number"),
        (
            b'{"question":"q","answer":1e99999999999999999999}',
            "Line 1: the answer must be a number",
        ),
        (
            b'{"question": 1e99999999999999999999, "answer": 1}',
            "Line 1: the question must be a text",
        ),
        (
            b'{"question": "x", "answer": ' + b"9" * 5000 + b"}",
            "Line 1: the answer must be a number",
        ),
        (b'{"question": "x", "answer": 1e60}\n', "Line 1: the answer must be a number, got '1E"),
        (b"question,answer\nx,1\n\xff,2\n", "Line 3 of the problems is not UTF-8"),
        (b'{"question": "x", "answer": 1}\n{"question": "y"}\n', "Line 2: an object"),
        (b'{"question": "x", "answer": 1}\n{nope\n', "Line 2 of the problems is not JSON"),
        (b'{"question": 5, "answer": 1}\n', "Line 1: the question"),
        (b'{"question": "x", "answer": true}\n', "Line 1: the answer"),
        (b'{"question": "x", "answer": null}\n', "Line 1: the answer must be a number, got None"),
        (b'{"question": "x", "answer": NaN}\n', "Line 1: the answer"),
        (b"{" * 100_000, "Line 1 of the problems is not JSON"),
        (b"question,answer\n" + b"x" * 5000 + b",1\n", "Line 2: the question has more than 4,000"),
        (b"question,answer\n" + b"x,1\n" * 2001, "Line 2002: at most 2,000"),
        (b"x" * (MAX_BYTES + 1), "larger than the 1 MB"),
    ],
)
def test_the_first_fault_is_named_with_its_line(data, words) -> None:
    with pytest.raises(ProblemError, match=words):
        read_problems(data)


def test_a_path_is_read_and_a_missing_one_named(tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(CSV)
    assert len(read_problems(path).problems) == 2
    for wrong in (tmp_path / "none.csv", "a\x00b"):
        with pytest.raises(ProblemError, match="can't be opened"):
            read_problems(wrong)


@pytest.mark.parametrize(
    "name",
    [
        make_problems(8, seed=7).name,
        make_hard_sums(2, seed=3).name,
        f"stopped after 3 of 8, {make_problems(8).name}",
        "own:facts",
        "own:mixed, 40 of 101",
        "60 held-out chains of 2 to 5 sums · 96 positions in one block",
        "problems from a file",
    ],
)
def test_the_name_of_a_stored_set_is_in_the_reader_s_language(name: str) -> None:
    words = set_words(name)
    assert name.startswith("own:") or words == name
    for language in ("ja", "ko"):
        with use(language):
            assert not re.search("[A-Za-z]{3,}", tr(words)), tr(words)


def test_the_name_of_a_user_s_file_stays() -> None:
    with use("ja"):
        assert set_words("exam of steps, seed 3.csv") == "exam of steps, seed 3.csv"
        assert tr(set_words("exam.csv, 3 of 9")) == "exam.csv、9 件中 3 件"
