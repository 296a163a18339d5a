"""Short questions and their answers, with some ways to ask that are kept for the evaluation."""

import random
from typing import NamedTuple

from training.corpus import words_facts as words
from training.corpus.document import Document, Message, Part
from training.corpus.words_facts import Category


class Fact(NamedTuple):
    """One fact: the category with its ways to ask, the thing, and the answer."""

    category: Category
    thing: str
    answer: str

    def fill(self, pattern: str) -> str:
        """Put the thing and the answer into a pattern, with a capital letter at the beginning."""
        text = pattern.replace("@", self.thing).replace("#", self.answer)
        return text[0].upper() + text[1:]

    @property
    def bare(self) -> str:
        """Return the answer alone, as "Paris."."""
        return self.answer[0].upper() + self.answer[1:] + "."

    @property
    def word(self) -> str:
        """Return the answer without its article."""
        first, _, rest = self.answer.partition(" ")
        return rest if first in ("a", "an", "the") else self.answer


FACTS = [
    Fact(category, *row.split(": "))
    for category in words.CATEGORIES
    for row in category.rows.splitlines()
]
_OF_CATEGORY = {
    category.name: [fact for fact in FACTS if fact.category is category]
    for category in words.CATEGORIES
}


def plain(rng: random.Random) -> Document:
    """Write one to four facts, as questions and answers or as statements."""
    if rng.random() < 0.45:
        return (Part(_question_and_answer(rng, draw(rng))),)
    if rng.random() < 0.5:
        fact = draw(rng)
        return (Part(fact.fill(rng.choice(fact.category.states.splitlines()))),)
    facts = [draw(rng) for _ in range(rng.randint(2, 4))]
    if rng.random() < 0.6:
        return (Part("\n\n".join(_question_and_answer(rng, fact) for fact in facts)),)
    states = [fact.fill(rng.choice(fact.category.states.splitlines())) for fact in facts]
    return (Part(" ".join(states)),)


def chat(rng: random.Random) -> list[Message]:
    """Ask one thing; the system prompt decides whether a word or a sentence is the answer."""
    fact, share = draw(rng), rng.random()
    sentence = fact.fill(fact.category.states.splitlines()[0])
    system, answer = "", sentence
    if share < 0.4:
        one_word = " " not in fact.word and share >= 0.06
        system = rng.choice((words.WORD_SYSTEMS if one_word else words.SHORT_SYSTEMS).splitlines())
        answer = fact.word[0].upper() + fact.word[1:] + "." if one_word else fact.bare
    elif share < 0.65:
        system = rng.choice(words.SENTENCE_SYSTEMS.splitlines())
    head = [Message("system", (Part(system),))] if system else []
    question = Message("user", (Part(ask(rng, fact)),))
    return [*head, question, Message("assistant", (Part(answer),))]


def draw(rng: random.Random) -> Fact:
    """Draw a fact: any, or one of a category drawn first, so that small ones are not rare."""
    if rng.random() < 0.7:
        return rng.choice(FACTS)
    return rng.choice(_OF_CATEGORY[rng.choice(words.CATEGORIES).name])


def ask(rng: random.Random, fact: Fact) -> str:
    """Ask for a fact in one of the ways that are there to be learned."""
    pattern = rng.choice(fact.category.asks.splitlines())
    if pattern.startswith("Tell me "):
        wish = rng.choice(words.WISHES.splitlines())
        pattern = wish.replace("@", pattern.removeprefix("Tell me ").removesuffix("."))
    return fact.fill(pattern)


def held_out() -> list[tuple[str, str]]:
    """Return (question, answer) for every fact in the two ways that no training text has."""
    return [
        (fact.fill(pattern), fact.answer)
        for fact in FACTS
        for pattern in fact.category.held.splitlines()
    ]


def _question_and_answer(rng: random.Random, fact: Fact) -> str:
    answer = fact.bare if rng.random() < 0.85 else fact.fill(fact.category.states.split("\n")[0])
    return f"Question: {ask(rng, fact)}\nAnswer: {answer}"
