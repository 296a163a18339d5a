"""Replies to the questions written by hand are judged rightly."""

from decimal import Decimal

import pytest

from training.corpus.tokens import END_THINK, THINK
from training.evaluation import forms, stories, written


def test_what_a_reply_says_stands_after_its_thinking() -> None:
    reply = f"{THINK}4 - 9 = -5.{END_THINK}The answer is -5."
    assert written.said(reply) == "The answer is -5."
    assert written.last_number(written.said(reply)) == -5
    assert written.said(f"{THINK}4 - 9") == ""
    assert written.last_number("It is 3.8.") == Decimal("3.8")
    assert written.last_number("none") is None
    assert written.answer_of("3+4*5") == 23
    with pytest.raises(ValueError, match="beyond"):
        written.answer_of("7/3")


@pytest.mark.parametrize(
    ("has_form", "good", "bad"),
    [
        (forms.is_one_word, "Paris.", "The capital is Paris."),
        (forms.is_one_sentence, "The answer is 5.", "Five. That is it."),
        (forms.is_number, "-12", "The answer is -12."),
        (forms.is_bare, "Mary Shelley.", "It was Mary Shelley who wrote it."),
        (forms.is_bare_list, "red, blue.", "A list of colors: red, blue."),
        (forms.is_lines, "red\nblue\ngreen", "red, blue, green."),
        (forms.is_capital, "PARIS.", "Paris."),
        (forms.is_stepwise, f"{THINK}1 + 1 = 2.{END_THINK}2", "The answer is 2."),
    ],
)
def test_a_form_is_told_from_others(has_form, good: str, bad: str) -> None:
    assert has_form(good) and not has_form(bad) and not has_form("")


def test_things_keep_their_colors_and_requests_are_found() -> None:
    assert stories.has_steady_things("A red kite. The red kite flew over a blue door.")
    assert not stories.has_steady_things("A red kite. The blue kite flew.")
    assert stories.has_word("Two foxes ran.", "fox") and not stories.has_word("Foxy.", "fox")
    assert stories.mold("Mia the fox ran. The end.", 0) == "Name the kind ran."
