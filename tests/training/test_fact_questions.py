"""Facts asked for in any words: the answer is the fact's own, and no kept question is asked."""

import random
import re

import pytest

from tests.training.reading import learned, whole
from training.corpus import fact_questions, facts, orders

COUNT = 3000


def test_no_question_is_unfilled_or_kept_for_the_evaluation() -> None:
    rng = random.Random(1)
    held_out = {question.lower() for question, _ in facts.held_out()}
    for _ in range(COUNT):
        question, sentence, bare = fact_questions.ask(rng)
        assert question.lower() not in held_out
        assert not re.search(r"[{}@#\0]", question), question
        assert sentence.endswith((".", '".')) and bare.endswith(".")
        assert bare[0].isupper() or bare[0].isdigit()


def test_the_system_prompt_decides_about_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "system", lambda _, way: way)
    rng = random.Random(4)
    seen = set()
    for _ in range(COUNT):
        messages = fact_questions.chat(rng)
        way = whole(messages[0].parts) if messages[0].role == "system" else ""
        seen.add(way)
        text = whole(messages[-1].parts)
        assert way != "word" or " " not in text
        assert way != "capitals" or text == text.upper()
        assert way != "sentence" or len(text.split()) >= 3
    assert {"word", "answer", "capitals", "sentence"} < seen


def test_questions_bear_no_loss() -> None:
    rng = random.Random(5)
    for _ in range(200):
        assert learned(fact_questions.plain(rng)).startswith("Question: ~\nAnswer: ")
