"""Small talk: greetings, who it is, thanks, and what lies outside the model's world."""

import random
import re
from functools import cache

from training import handwritten
from training.corpus import orders
from training.corpus import words_talk as words
from training.corpus.document import Document, Message, Part
from training.corpus.grammar import capitalize, expand, roughen
from training.corpus.tokens import ASSISTANT, END_OF_TURN, USER

_KINDS = {"greeting": 12, "identity": 18, "ability": 10, "thanks": 13, "japanese": 5, "korean": 5}
_OUTSIDE = 44
_FOREIGN = ("japanese", "korean")
SLOTS = {slot: values.split(", ") for slot, values in (line.split(": ", 1) for line in words.SLOTS)}


def plain(rng: random.Random) -> Document:
    """Write a short chat: outside of one nobody greets a model."""
    ask, answer = make(rng)
    begin, middle = Part(USER), Part(f"{END_OF_TURN}{ASSISTANT}")
    return (begin, *orders.silent(ask), middle, Part(answer), Part(END_OF_TURN))


def chat(rng: random.Random) -> list[Message]:
    """Say something to the model that no other family answers."""
    ask, answer = make(rng)
    share = rng.random()
    way = "" if share < 0.62 or not answer.isascii() else "none"
    if way and share < 0.92:
        way = rng.choice(("sentence", "capitals", "capitals", "capitals", "steps", "answer"))
    if way == "sentence":
        answer = answer.replace("! ", ", ")  # "Hello! I am" would be two
    reply = orders.capitals(answer) if way == "capitals" else answer
    head = [orders.order(rng, way)] if way else []
    return [*head, Message("user", orders.silent(ask)), Message("assistant", (Part(reply),))]


def make(rng: random.Random) -> tuple[str, str]:
    """What is said, and the one sentence that answers it; nothing that is kept."""
    while True:
        text, answer = _make(rng)
        if _bare(text) not in _kept():
            return text, answer


@cache
def _kept() -> frozenset[str]:
    rows = handwritten.read("talk")
    return frozenset(_bare(row[1]) for row in rows)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"[\w']+|[)]", text.lower()))


def _make(rng: random.Random) -> tuple[str, str]:
    kind = rng.choices([*_KINDS, "outside"], [*_KINDS.values(), _OUTSIDE])[0]
    if kind == "outside":
        text, answers = _outside(rng), words.UNKNOWN
    else:
        lines, answers = words.TALK[kind]
        text = capitalize(expand(rng, rng.choice(lines.splitlines())))
    if kind not in _FOREIGN:
        text = roughen(rng, text)
    return text, rng.choice(answers).replace("{able}", words.ABLE)


def _outside(rng: random.Random) -> str:
    slots = {slot: rng.choice(values) for slot, values in SLOTS.items()}
    slots |= {"gibberish": _gibberish(rng), "gibberish2": _gibberish(rng)}
    return capitalize(expand(rng, rng.choice(words.OUTSIDE), slots))


def _gibberish(rng: random.Random) -> str:
    if rng.random() < 0.15:
        letters = "asdfghjklqwertyuiopzxcvbnm"
        return "".join(rng.choice(letters) for _ in range(rng.randint(3, 9)))
    words_ = ("".join(rng.sample(words.SYLLABLES, rng.randint(1, 3))) for _ in range(2))
    return " ".join(words_) if rng.random() < 0.4 else next(words_)
