"""System prompts that ask for a form of the answer, each in several wordings."""

import random
import re
from functools import cache

from training import handwritten
from training.corpus import words_orders as words
from training.corpus.document import Message, Part
from training.corpus.grammar import expand

_LISTED, _BEFORE, _UPPER, _LOWER, _BARE = 0.3, 0.1, 0.07, 0.1, 0.2
_UPPER_CAPITALS = 0.3  # of the wordings that ask for capital letters


def system(rng: random.Random, way: str) -> str:
    """A wording that asks for an answer of this form, none that is kept for the evaluation."""
    if rng.random() < _LISTED:
        return rng.choice(words.WORDINGS[way].splitlines())
    while True:
        text = expand(rng, rng.choice(words.COMPOSED[way].splitlines()))
        if is_kept(text):
            continue
        text = text[0].upper() + text[1:] + ("" if rng.random() < _BARE else ".")
        if rng.random() < _BEFORE:
            text = f"{rng.choice(words.WORDINGS['none'].splitlines())} {text}"
        share = rng.random()
        if share < (_UPPER_CAPITALS if way == "capitals" else _UPPER):
            return text.upper()
        return text.lower() if share > 1 - _LOWER else text


def is_kept(text: str) -> bool:
    """Whether a system prompt is one of the evaluation's that no training text has."""
    return _bare(text) in _kept()


@cache
def _kept() -> frozenset[str]:
    listed = {_bare(line) for lines in words.WORDINGS.values() for line in lines.splitlines()}
    return frozenset(_bare(text) for _, text in handwritten.read("systems")) - listed


def _bare(text: str) -> str:
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def order(rng: random.Random, way: str) -> Message:
    """A system prompt that asks for an answer of this form; it bears no loss."""
    return Message("system", silent(system(rng, way)))


def capitals(text: str) -> str:
    """A reply in capital letters, the marks in it as they are."""
    return text.upper()


def silent(text: str) -> tuple[Part, ...]:
    """A question that bears no loss: nobody needs to learn how others type."""
    return (Part(text, learned=False),)
