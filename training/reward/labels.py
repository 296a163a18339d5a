"""What a reward model learns at each token of an attempt: whether all up to it can stand.

An attempt with the right answer stands as a whole. A wrong one stands as far as it goes along with
a right attempt at the same problem, which shows that from there the answer could still be reached
(the idea of Math-Shepherd, Wang et al. 2024, without further runs); from where it leaves them all,
no token does. Where no attempt was right, only its end is known. Half of what is learned is made
up: chains with one slip.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from core.evaluation.questions.chains import MOST_STEPS, calculate, draw_chain
from training.corpus.arithmetic import Sum, ask, say, sums_of, write_sum
from training.corpus.tokens import END_THINK, THINK
from training.reward.attempts import Labelled

_NEARBY = (-10, -3, -2, -1, 1, 2, 3, 10)


class Lesson(NamedTuple):
    """Token ids and, of each behind the question, whether all up to it can stand (None before)."""

    ids: list[int]
    labels: list[bool | None]


Encode = Callable[[str, str], tuple[list[int], int]]
"""From a question and a reply to ids, and how many of them are the question's."""


def lessons_of(attempts: Sequence[Labelled], encode: Encode) -> list[Lesson]:
    """A lesson for each attempt."""
    right: dict[str, list[list[int]]] = defaultdict(list)
    encoded = [encode(one.question, one.reply) for one in attempts]
    for one, (ids, _) in zip(attempts, encoded, strict=True):
        if one.right:
            right[one.question].append(ids)
    return [
        _lesson(ids, begin, one.right, right[one.question])
        for one, (ids, begin) in zip(attempts, encoded, strict=True)
    ]


def _lesson(ids: list[int], begin: int, right: bool, others: Sequence[list[int]]) -> Lesson:
    labels: list[bool | None] = [None] * len(ids)
    if others:
        stands = len(ids) if right else max(_shared(ids, own) for own in others)
        labels[begin:] = [at < stands for at in range(begin, len(ids))]
    # The end is the whole attempt's, whatever it goes along with.
    labels[-1] = right
    return Lesson(ids, labels)


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def made_up(rng: random.Random) -> Iterator[Labelled]:
    """Yield pairs of attempts at a chain, the right one and one with a slip, without end."""
    while True:
        chain = draw_chain(rng, rng.randint(1, MOST_STEPS))
        question, steps = ask(rng, chain), sums_of(chain)
        slipped = _slip(rng, steps)
        if slipped[-1][1] != chain.answer:
            right = [(one, calculate(*one)) for one in steps]
            yield Labelled(question, _written(right), True, "made up")
            yield Labelled(question, _written(slipped), False, "made up")


def _slip(rng: random.Random, steps: list[Sum]) -> list[tuple[Sum, int]]:
    """The sums with one wrong result, number or sign; what follows goes on from it."""
    at, kind = rng.randrange(len(steps)), rng.choice(("result", "result", "operand", "value"))
    done: list[tuple[Sum, int]] = []
    for place, (value, operation, operand) in enumerate(steps):
        start = done[-1][1] if done else value
        if place == at and kind == "operand":
            operand = max(1, operand + rng.choice(_NEARBY))
        if place == at and kind == "value":
            start = max(0, start + rng.choice(_NEARBY))
        if operation == "/" and start % operand:
            operation = rng.choice("+-")
        result = calculate(start, operation, operand)
        if place == at and kind == "result":
            result = max(0, result + rng.choice(_NEARBY))
        done.append(((start, operation, operand), result))
    return done


def _written(done: Sequence[tuple[Sum, int]]) -> str:
    text = " ".join(f"{write_sum(*one)}{result}." for one, result in done)
    return f"{THINK}{text}{END_THINK}{say(done[-1][1])}"
