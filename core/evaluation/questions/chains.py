"""Chains of sums: draw them, hold some out of the training, compute them, and phrase questions."""

from __future__ import annotations

import random
import zlib
from typing import NamedTuple

LARGEST = 199  # upper limit of every intermediate value; the lower limit is 0
MOST_STEPS = 8
HELD_OUT_OF = 50  # one problem in this many never appears in training
_OPERATIONS, _WEIGHTS = "+-*/", (4, 4, 3, 1)
_VERBS = {"+": "add", "-": "subtract", "*": "multiply by", "/": "divide by"}


class ChainStep(NamedTuple):
    """One operation of a chain, such as * 3."""

    operation: str
    operand: int


class Chain(NamedTuple):
    """A number and the operations applied to it from left to right."""

    start: int
    steps: tuple[ChainStep, ...]

    @property
    def key(self) -> str:
        """Name of the problem, independent of its wording, such as 7+5*3."""
        return str(self.start) + "".join(f"{op}{operand}" for op, operand in self.steps)

    @property
    def values(self) -> list[int]:
        """The start and the value after each step."""
        numbers = [self.start]
        for step in self.steps:
            numbers.append(calculate(numbers[-1], *step))
        return numbers

    @property
    def answer(self) -> int:
        return self.values[-1]


def calculate(value: int, operation: str, operand: int) -> int:
    """Apply one operation; a division must leave no remainder."""
    if operation == "/":
        quotient, remainder = divmod(value, operand)
        if remainder:
            raise ValueError(f"{value} / {operand} leaves a rest of {remainder}.")
        return quotient
    return {"+": value + operand, "-": value - operand, "*": value * operand}[operation]


def is_held_out(key: str) -> bool:
    """Return True if a problem is held out of the training, in any wording."""
    return zlib.crc32(key.encode()) % HELD_OUT_OF == 0


def draw_chain(rng: random.Random, steps: int, held_out: bool = False) -> Chain:
    """Draw a chain with this number of steps, from the training problems or the held-out ones."""
    while True:
        chain = _draw(rng, steps)
        if is_held_out(chain.key) == held_out:
            return chain


def _draw(rng: random.Random, count: int) -> Chain:
    start = value = rng.randint(1, 60)
    steps: list[ChainStep] = []
    while len(steps) < count:
        operation = rng.choices(_OPERATIONS, _WEIGHTS)[0]
        operand = rng.randint(2, 30) if operation in "+-" else rng.randint(2, 9)
        if operation == "/" and value % operand:
            continue
        if 0 <= calculate(value, operation, operand) <= LARGEST and value:
            steps.append(ChainStep(operation, operand))
            value = calculate(value, operation, operand)
        elif not value:
            steps.append(ChainStep("+", operand))
            value = operand
    return Chain(start, tuple(steps))


def expression(chain: Chain) -> str:
    """Return a chain in symbols, with the necessary brackets, such as (7 + 5) * 3."""
    text, last = str(chain.start), "*"
    for operation, operand in chain.steps:
        if operation in "*/" and last in "+-":
            text = f"({text})"
        text, last = f"{text} {operation} {operand}", operation
    return text


def ask_in_symbols(rng: random.Random, chain: Chain) -> str:
    """Return a question for the value of an expression."""
    return rng.choice(("What is {}?", "Compute {}.", "{} = ?")).format(expression(chain))


def ask_in_words(rng: random.Random, chain: Chain) -> str:
    """Return a question for the result of a chain described step by step."""
    orders = [f"{_VERBS[operation]} {operand}" for operation, operand in chain.steps]
    if rng.random() < 0.5:
        return f"Start with {chain.start}, {', '.join(orders)}. What is the result?"
    sentences = " ".join(f"{order.capitalize()}." for order in orders)
    return f"Take {chain.start}. {sentences} What do you get?"
