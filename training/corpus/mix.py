"""Which families a training text is mixed from, and in which shares."""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from training.corpus import (
    arithmetic,
    calculator,
    fact_questions,
    facts,
    lists,
    stories,
    sums,
    talk,
)
from training.corpus.document import Document, Message, Part
from training.corpus.tokens import ASSISTANT, END_OF_TURN, SYSTEM, USER

_MARKS = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_SECOND_QUESTIONS = 0.2  # of the chats that have no system prompt


class Family(NamedTuple):
    """One family of texts: its share of the tokens, its mean length, its share of chats."""

    plain: Callable[[random.Random], Document]
    chat: Callable[[random.Random], list[Message]]
    share: float
    tokens: float  # in a document, on average
    chats: float


FAMILIES = {
    "arithmetic": Family(arithmetic.plain, arithmetic.chat, 0.11, 81, 0.5),
    "calculator": Family(calculator.plain, calculator.chat, 0.02, 53, 0.5),
    "stories": Family(stories.plain, stories.chat, 0.35, 160, 0.75),
    "lists": Family(lists.plain, lists.chat, 0.07, 37, 0.75),
    "facts": Family(facts.plain, facts.chat, 0.03, 26, 0.5),
    "sums": Family(sums.plain, sums.chat, 0.24, 57, 0.9),
    "questions": Family(fact_questions.plain, fact_questions.chat, 0.11, 33, 0.9),
    "talk": Family(talk.plain, talk.chat, 0.07, 50, 0.9),
}
DRAFT_SHARES = {
    "arithmetic": 0.0,
    "calculator": 0.03,
    "stories": 0.75,
    "lists": 0.08,
    "facts": 0.06,
    "sums": 0.0,
    "questions": 0.05,
    "talk": 0.03,
}


def shares_of(role: str) -> dict[str, float]:
    """The shares of the families in the text of the target or of the draft."""
    if role == "draft":
        return DRAFT_SHARES
    return {name: family.share for name, family in FAMILIES.items()}


def documents(rng: random.Random, shares: dict[str, float] | None = None) -> Iterator[Document]:
    """Yield documents of all families without end; shares are of the tokens."""
    wanted = shares or shares_of("target")
    weights = [wanted[name] / family.tokens for name, family in FAMILIES.items()]
    names = list(FAMILIES)
    while True:
        yield draw_document(rng, rng.choices(names, weights)[0])


def draw_document(rng: random.Random, name: str) -> Document:
    """Draw one document of a family, plain or as a chat in the markup."""
    family = FAMILIES[name]
    if rng.random() >= family.chats:
        return family.plain(rng)
    messages = family.chat(rng)
    if name != "stories" and messages[0].role == "user" and rng.random() < _SECOND_QUESTIONS:
        more = family.chat(rng)
        messages += more if more[0].role == "user" else []
    return render(messages)


def render(messages: list[Message]) -> Document:
    """Write a chat in the markup that the chat template writes."""
    parts: list[Part] = []
    for role, content in messages:
        parts += [Part(_MARKS[role]), *content, Part(END_OF_TURN)]
    return tuple(parts)
