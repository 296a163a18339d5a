"""The checker of arithmetic reads whole questions, and says nothing of those that it can't read."""

from __future__ import annotations

import random
from time import thread_time

import pytest

from core.evaluation.questions.chains import draw_chain, expression
from core.evaluation.questions.problems import make_hard_sums, make_problems
from core.evaluation.scoring.verifier import check_arithmetic, worked_out
from core.evaluation.types import Problem


def test_the_arithmetic_checker_works_every_question_out_by_itself() -> None:
    sets = [make_problems(120, seed=2, steps=[2, 4, 6, 8]), make_hard_sums(60, seed=2)]
    for problem in (member for problems in sets for member in problems.problems):
        # A wrong key must not fool it: it reads the question.
        unsolved = Problem("x", problem.question, "0")
        assert check_arithmetic(unsolved, problem.answer) == 1.0, problem.question
        assert check_arithmetic(unsolved, str(int(problem.answer) + 1)) == 0.0
    assert check_arithmetic(Problem("x", "Why?", "36"), "36") == 0.0
    assert check_arithmetic(Problem("x", "What is 1 / 0?", "36"), "36") == 0.0


def test_the_checker_and_the_chains_agree_on_brackets() -> None:
    rng = random.Random(8)
    for _ in range(100):
        chain = draw_chain(rng, 8)
        assert check_arithmetic(Problem("x", expression(chain), ""), str(chain.answer)) == 1.0


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is 7 + 5?", "12"),
        ("  what is\n(7 + 5) * 3 ?", "36"),
        ("Compute 1 / 4.", "0.25"),
        ("3+4 = ?", "7"),
        ("What is 12 divided by 4?", "3"),
        ("Start with 9. Add 4. What do you get?", "13"),
        ("Take 9, add 4, then multiply by 2", "26"),
    ],
)
def test_forms_that_are_read(question, answer) -> None:
    assert worked_out(question) == answer


@pytest.mark.parametrize(
    ("question", "tempting"),
    [
        ("Tom has 12 apples and eats 5. How many are left?", "12"),
        ("In 2024, what is 3+4?", "2024"),
        ("What is 2 to the 5?", "2"),
        ("What is 1,000 + 5?", "5"),
        ("Take 12 apples from 30", "12"),
        ("Start with 7, add 5, then halve it.", "12"),
        ("Start with 7, add 5 apples.", "12"),
        ("What is 5?", "5"),
        ("What is -5?", "-5"),
        ("What is 1 / 0?", "0"),
        ("What is 7 + 5 in binary?", "12"),
        ("", "0"),
    ],
)
def test_a_question_that_it_can_t_read_whole_checks_nothing(question, tempting) -> None:
    assert worked_out(question) is None
    assert check_arithmetic(Problem("x", question, tempting), tempting) == 0.0


@pytest.mark.parametrize("piece", ["(", " ", "1 ", ". Add 1", "1.", "+"])
def test_a_long_question_is_refused_at_once(piece) -> None:
    began = thread_time()
    assert worked_out(f"Take 1{piece * 20_000}x") is None
    assert worked_out(f"{piece * 20_000}x") is None
    assert thread_time() - began < 0.5
