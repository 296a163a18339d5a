"""The mix: shares of the tokens, determinism, and nothing that is held out."""

import itertools
import random
import re

from tests.depth import cases
from tests.training.reading import whole
from training.corpus import facts, mix
from training.corpus.problems import is_held_out
from training.corpus.tokens import (
    CALL,
    END_OF_TURN,
    END_RESULT,
    END_THINK,
    THINK,
    USER,
)

DOCUMENTS = cases(20_000, 4_000)


def draw(seed: int, count: int) -> list[str]:
    return [
        whole(document) for document in itertools.islice(mix.documents(random.Random(seed)), count)
    ]


def test_a_seed_fixes_the_documents() -> None:
    first, again, reseeded = (draw(seed, 300) for seed in (3, 3, 4))
    assert first == again
    assert first != reseeded


def test_nothing_held_out_appears() -> None:
    texts = draw(5, DOCUMENTS)
    held_out = {question for question, _ in facts.held_out()}
    for text in texts:
        assert held_out.isdisjoint(
            re.split(rf"Question: |\n|{re.escape(USER)}|{re.escape(END_OF_TURN)}", text)
        )
        for key in problem_keys(text):
            assert not is_held_out(key), text


def problem_keys(text: str) -> list[str]:
    """The problems that a text asks, by their numbers and operations."""
    words = {"add": "+", "subtract": "-", "multiply by": "*", "divide by": "/"}
    spoken = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}
    keys = []
    text = re.sub(rf"{THINK}.*?{END_THINK}|{CALL}.*?{END_RESULT}", "", text)
    for expression in re.findall(
        r"(?:What is|Compute|^|>)\s?([\d(][\d()+*/ -]* [\d()+*/ -]*\d\)?)", text
    ):
        keys.append(re.sub(r"[ ()]", "", expression))
    for first, remainder in re.findall(r"(?:Start with|Take) (\d+)[,.](.*?)What", text):
        orders = re.findall(r"(add|subtract|multiply by|divide by) (\d+)", remainder.lower())
        others = re.sub(r"(?:add|subtract|multiply by|divide by) \d+|then", "", remainder.lower())
        # A sum in other words than these is kept apart where it is drawn (`expressions`).
        if orders and not re.search(r"[a-z]", others):
            keys.append(first + "".join(words[verb] + number for verb, number in orders))
    for first, verb, second in re.findall(
        r"What is (\d+) (plus|minus|times|divided by) (\d+)", text
    ):
        keys.append(first + spoken[verb] + second)
    return keys


def test_each_family_has_its_share_of_the_words() -> None:
    rng = random.Random(7)
    names = list(mix.FAMILIES)
    assert sum(family.share for family in mix.FAMILIES.values()) == 1
    assert sum(mix.DRAFT_SHARES.values()) == 1 and list(mix.DRAFT_SHARES) == names
    for name, family in mix.FAMILIES.items():
        pieces = [
            len(re.findall(r"<[^<>]+>|\d|\w+|[^\w\s]", whole(mix.draw_document(rng, name))))
            for _ in range(1500)
        ]
        assert 0.6 < sum(pieces) / len(pieces) / family.tokens < 1.2
