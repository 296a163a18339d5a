"""Whether a question written for the evaluation stands in the training text, but for its names."""

import re
from collections.abc import Iterable

from training import handwritten
from training.corpus import facts, lists
from training.corpus.grammar import number_word
from training.corpus.story import cast

FILES = ("sums", "facts", "talk", "lists", "stories")
GRAM, MOST_SHARED = 5, 0.8  # words in a row; the share of them that one text may have, too
_NUMBERS = {number_word(number) for number in range(2, 100)}
_NAMES = {name.lower() for name in (*cast.GIRLS, *cast.BOYS)}
_NAMED = [one for one in facts.FACTS if one.category.name not in ("opposite", "sense", "science")]
_THINGS = sorted(
    {
        *(one.thing.lower() for one in _NAMED if len(one.thing) > 1),
        *(one.answer.lower() for one in _NAMED if len(one.answer) > 1),
        *lists.KINDS,
        *lists.SERIES,
        *cast.ANIMALS,
    },
    key=len,
    reverse=True,
)
_FILLING = re.compile(rf"(?<!\w)(?:(?:an? |the )?(?:{'|'.join(map(re.escape, _THINGS))}))(?!\w)")


def frame(question: str) -> str:
    """A question in small letters without its marks; numbers, names and things are a #."""
    text = _FILLING.sub("#", question.lower())
    text = re.sub(r"-?\d+(\.\d+)?", "#", text)
    words = re.findall(r"#|[\w']+|[-+*/=()]", text)
    return " ".join("#" if word in _NUMBERS or word in _NAMES else word for word in words)


def grams(text: str) -> set[str]:
    """All rows of so many words in a frame; the whole frame, marked, where it is shorter."""
    words = text.split()
    if len(words) <= GRAM:
        return {f"^{text}$"}
    return {" ".join(words[at : at + GRAM]) for at in range(len(words) - GRAM + 1)}


def leaks(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The held-out questions that a training text has: the same frame, or most of its grams.

    Sums in symbols have no frame of their own: their numbers are held out instead.
    """
    held = {}
    for name in FILES:
        for row in handwritten.read(name):
            question = row[0] if name in ("lists", "stories") else row[1]
            shape = frame(question)
            if row[0] != "above":
                held[shape] = question
    by_gram: dict[str, list[str]] = {}
    for shape in held:
        for gram in grams(shape):
            by_gram.setdefault(gram, []).append(shape)
    found = set()
    for text in texts:
        shape = frame(text)
        shared = [other for gram in grams(shape) for other in by_gram.get(gram, [])]
        for other in set(shared):
            if shared.count(other) >= MOST_SHARED * len(grams(other)):
                found.add((held[other], shape))
    return sorted(found)
