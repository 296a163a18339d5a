"""Facts asked for in any words: for the thing, backwards, with a gap, with yes or no."""

import random
import re
from collections import Counter
from functools import cache

from training.corpus import facts, orders
from training.corpus import words_questions as words
from training.corpus.document import Document, Message, Part
from training.corpus.facts import Fact
from training.corpus.grammar import capitalize, expand, roughen

_KINDS = {"thing": 53, "back": 24, "gap": 10, "yes-no": 24}
_WAYS = {"": 45, "none": 6, "word": 8, "sentence": 9, "answer": 15, "capitals": 16, "steps": 1}
_ARTICLE = re.compile(r"\b(the baby of|the young of|the child of) an? ")

_SYNONYMS = 0.2  # of the questions have other words for the same

Asked = tuple[str, str, str]  # the question, the sentence that answers it, the bare answer


def plain(rng: random.Random) -> Document:
    """Write one to three questions with their answers."""
    pairs = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        question, sentence, bare = ask(rng)
        pairs.append((question, bare if rng.random() < 0.8 else sentence))
    parts: list[Part] = []
    for question, answer in pairs:
        parts += [Part("\n\n" if parts else ""), Part("Question: ")]
        parts += [*orders.silent(question), Part(f"\nAnswer: {answer}")]
    return tuple(part for part in parts if part.text)


def chat(rng: random.Random) -> list[Message]:
    """Ask one thing; the system prompt decides about the form of the answer."""
    question, sentence, bare = ask(rng)
    way = rng.choices(list(_WAYS), list(_WAYS.values()))[0]
    if way == "word" and " " in bare:
        way = "answer"
    reply = bare if way in ("word", "answer") else sentence
    if way == "capitals":
        reply = orders.capitals(reply if rng.random() < 0.8 else bare)
    head = [orders.order(rng, way)] if way else []
    user = Message("user", orders.silent(question))
    return [*head, user, Message("assistant", (Part(reply),))]


def ask(rng: random.Random) -> Asked:
    """Ask for a fact in one of many ways, none of them kept for the evaluation."""
    kinds = {"thing": _for_answer, "back": _for_thing, "gap": _with_gap, "yes-no": _with_yes_or_no}
    while True:
        kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
        fact = facts.draw(rng)
        asked = kinds[kind](rng, fact)
        if asked and rng.random() < _SYNONYMS:
            asked = (_in_other_words(rng, asked[0], fact), *asked[1:])
        if asked and _normal(asked[0]) not in _held_out():
            return asked


def _in_other_words(rng: random.Random, question: str, fact: Fact) -> str:
    """Replace some words of a question that are no part of the answer by others for the same."""
    for line in words.SYNONYMS:
        word, others = line.split(": ")
        if word not in fact.answer and (word not in fact.thing or word.endswith("est")):
            other = rng.choice(others.split(", "))
            question = re.sub(rf"\b{word}\b", other, question, count=1)
    return question


def _for_answer(rng: random.Random, fact: Fact) -> Asked:
    wording = words.WORDINGS[fact.category.name]
    if rng.random() < 0.5:
        phrase = rng.choice(wording.of.splitlines())
        pattern = expand(rng, rng.choice(words.CARRIERS)).replace("@", phrase)
    else:
        pattern = expand(rng, rng.choice(wording.asks.splitlines()))
    return roughen(rng, _fill(rng, fact, pattern)), _sentence(fact), _bare(fact)


def _for_thing(rng: random.Random, fact: Fact) -> Asked | None:
    wording = words.WORDINGS[fact.category.name]
    if not wording.back or _answers()[fact.category.name, fact.answer] > 1:
        return None
    pattern = expand(rng, rng.choice(wording.back.splitlines()))
    thing = capitalize(fact.thing.removeprefix("the "))
    return roughen(rng, fact.fill(pattern)), _sentence(fact), f"{thing}."


def _with_gap(rng: random.Random, fact: Fact) -> Asked:
    """A statement whose answer is missing: at its end without a full stop, now and then."""
    pattern = rng.choice(words.WORDINGS[fact.category.name].states.splitlines())
    statement = _fill(rng, fact, pattern.replace("#", "\0").replace('"\0"', "\0"))
    statement = statement.replace("\0", rng.choice(words.GAPS))
    if rng.random() < 0.4 and not statement.endswith(".."):
        statement = statement.removesuffix(".")
    text = expand(rng, rng.choice(words.GAP_CARRIERS)).replace("@", statement)
    return roughen(rng, text) if rng.random() < 0.3 else text, _sentence(fact), _bare(fact)


def _with_yes_or_no(rng: random.Random, fact: Fact) -> Asked:
    wording, category = words.WORDINGS[fact.category.name], fact.category
    same = [one for one in facts.FACTS if one.category is category and one.thing == fact.thing]
    wrong = rng.choice([one.answer for one in facts.FACTS if one.category is category])
    true = rng.random() < 0.5 or wrong in {one.answer for one in same}
    said = Fact(category, fact.thing, fact.answer if true else wrong)
    if rng.random() < 0.75:
        question = _fill(rng, said, rng.choice(wording.checks.splitlines()))
    else:
        statement = said.fill(rng.choice(wording.states.splitlines()))
        question = rng.choice(words.CHECKS).replace("@", statement)
    word = "yes" if true else "no"
    # The fact comes first: a model that says yes or no before it has to guess.
    sentence = f"{_sentence(fact).removesuffix('.')}, so {word}."
    return roughen(rng, question), sentence, f"{word.capitalize()}."


def _fill(rng: random.Random, fact: Fact, pattern: str) -> str:
    """Put the thing into a question, now and then without its article: "a baby dog"."""
    text = fact.fill(pattern)
    if rng.random() < 0.25:
        text = _ARTICLE.sub(lambda found: found[1].replace("the ", "a ").replace(" of", " "), text)
        text = text.replace("a child ", "a baby ").replace("  ", " ")
    if fact.thing[:2] in ("a ", "an") and rng.random() < 0.3:
        noun, nouns = re.escape(fact.thing), _plural(fact)
        text = re.sub(rf"\b([Dd])oes {noun}\b", rf"\1o {nouns}", text)
        text = re.sub(rf"\b{noun} (ha|live|make|say|walk)s\b", rf"{nouns} \1", text, flags=re.I)
        text = re.sub(rf"\bIs {noun}\b", f"Are {nouns}", text)
        text = re.sub(rf"\bis {noun}\b", f"are {nouns}", text)
        text = re.sub(rf"\b(of|on|in|at|to|than) {noun}\b", rf"\1 {nouns}", text)
        text = text.replace(f"{nouns} ha ", f"{nouns} have ")
    return capitalize(text)


def _plural(fact: Fact) -> str:
    noun = fact.thing.split(" ", 1)[1]
    odd = {"mouse": "mice", "goose": "geese", "fish": "fish", "sheep": "sheep", "deer": "deer",
           "wolf": "wolves", "person": "people", "fox": "foxes", "calf": "calves"}  # fmt: skip
    if noun in odd:
        return odd[noun]
    if noun.endswith("y"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")


def _sentence(fact: Fact) -> str:
    return fact.fill(fact.category.states.splitlines()[0])


def _bare(fact: Fact) -> str:
    """The answer alone, without its article where that leaves one word."""
    return capitalize(fact.word) + "." if " " not in fact.word else fact.bare


def _normal(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


@cache
def _held_out() -> frozenset[str]:
    return frozenset(_normal(question) for question, _ in facts.held_out())


@cache
def _answers() -> Counter[tuple[str, str]]:
    return Counter((fact.category.name, fact.answer) for fact in facts.FACTS)
