import random
from collections import defaultdict

from training.corpus import facts
from training.corpus.facts import FACTS


def test_no_question_has_two_answers() -> None:
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for fact in FACTS:
        for pattern in (*fact.category.asks.splitlines(), *fact.category.held.splitlines()):
            answers[fact.fill(pattern)].add(fact.answer)
    assert not {question: given for question, given in answers.items() if len(given) > 1}


def test_held_out_questions_are_two_for_each_fact_and_always_the_same() -> None:
    held = facts.held_out()
    assert held == facts.held_out()
    assert len(held) == 2 * len(FACTS)
    assert ("Can you name the capital of France?", "Paris") in held
    assert len({question for question, _ in held}) == len(held)


def test_the_system_prompt_decides_between_a_word_and_a_sentence() -> None:
    seen = set()
    for seed in range(2000):
        messages = facts.chat(random.Random(seed))
        answer = messages[-1].parts[0].text
        system = messages[0].parts[0].text if messages[0].role == "system" else ""
        if "one word" in system or "only one" in system:
            seen.add("word")
            assert len(answer.split()) == 1
        elif "sentence" in system:
            seen.add("sentence")
            assert len(answer.split()) >= 3
        assert answer.endswith((".", '".'))
        assert answer[0].isupper() or answer[0].isdigit()
    assert seen == {"word", "sentence"}
