import random
from collections import defaultdict

from training.corpus import facts
from training.corpus.facts import FACTS
from training.corpus.words_facts import CATEGORIES


def test_the_table_is_large_and_every_category_has_its_phrasings() -> None:
    assert len(FACTS) >= 220
    assert len(CATEGORIES) >= 8
    counts = {category.name: len(category.rows.splitlines()) for category in CATEGORIES}
    assert counts["capital"] >= 60
    for category in CATEGORIES:
        assert len(set(category.asks.splitlines())) >= 5, category.name
        assert len(set(category.held.splitlines())) == 2
        assert len(category.states.splitlines()) >= 2
        assert not {*category.asks.splitlines()} & {*category.held.splitlines()}


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


def test_no_held_out_question_is_in_the_training_text() -> None:
    rng = random.Random(0)
    texts = [facts.plain(rng)[0].text for _ in range(12_000)]
    texts += [message.parts[0].text for _ in range(8_000) for message in facts.chat(rng)]
    lines = {line.removeprefix("Question: ") for text in texts for line in text.split("\n")}
    assert not {question for question, _ in facts.held_out()} & lines


def test_the_words_of_the_held_out_phrasings_are_all_learned() -> None:
    learned = {
        word
        for category in CATEGORIES
        for pattern in category.asks.splitlines()
        for word in pattern.lower().replace("?", "").replace(".", "").replace(",", "").split()
    }
    for category in CATEGORIES:
        words = category.held.lower().replace("?", "").replace(",", "").split()
        assert set(words) <= learned, category.name


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


def test_a_seed_gives_its_facts_again() -> None:
    assert facts.plain(random.Random(3)) == facts.plain(random.Random(3))
    assert facts.chat(random.Random(3)) == facts.chat(random.Random(3))
