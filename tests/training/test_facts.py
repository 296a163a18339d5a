from collections import defaultdict

from training.corpus import facts
from training.corpus.facts import FACTS


def test_no_question_has_two_answers() -> None:
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for fact in FACTS:
        for pattern in (*fact.category.asks.splitlines(), *fact.category.held.splitlines()):
            answers[fact.fill(pattern)].add(fact.answer)
    assert not {question: replies for question, replies in answers.items() if len(replies) > 1}


def test_held_out_questions_are_two_for_each_fact_and_always_the_same() -> None:
    held = facts.held_out()
    assert held == facts.held_out()
    assert len(held) == 2 * len(FACTS)
    assert ("Can you name the capital of France?", "Paris") in held
    assert len({question for question, _ in held}) == len(held)
