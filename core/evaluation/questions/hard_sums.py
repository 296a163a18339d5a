"""Sums that are too hard for the embedded model without a calculator."""

from __future__ import annotations

import random

from .chains import Chain, ChainStep, ask_in_symbols, is_held_out

_SPOKEN = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}


def draw_hard_sum(rng: random.Random, held_out: bool = False) -> Chain:
    """Draw one or two operations on numbers of 3 to 5 digits (a factor may have 2)."""
    while True:
        chain = _draw(rng, rng.choice((1, 1, 2)))
        if is_held_out(chain.key) == held_out:
            return chain


def ask_hard_sum(rng: random.Random, chain: Chain) -> str:
    """Return a question in symbols, or in words for a single operation."""
    (operation, operand), *more = chain.steps
    if not more and rng.random() < 0.3:
        return f"What is {chain.start} {_SPOKEN[operation]} {operand}?"
    return ask_in_symbols(rng, chain)


def _draw(rng: random.Random, count: int) -> Chain:
    start, first = _draw_first(rng, rng.choice("+-*/"))
    chain = Chain(start, (first,))
    if count == 1:
        return chain
    value = chain.answer
    second = rng.choice("+-") if value >= 100 else "+"
    operand = _number(rng, rng.randint(3, 5))
    if second == "-":
        operand = min(operand, rng.randint(1, value))
    return Chain(start, (first, ChainStep(second, operand)))


def _draw_first(rng: random.Random, operation: str) -> tuple[int, ChainStep]:
    first, second = _number(rng, rng.randint(3, 5)), _number(rng, rng.randint(3, 5))
    if operation == "-":
        first, second = max(first, second), min(first, second)
    if operation == "*":
        first, second = _number(rng, rng.randint(3, 4)), _number(rng, rng.randint(2, 4))
    if operation == "/":
        quotient = _number(rng, rng.randint(2, 3))
        second = _number(rng, 2)
        first = quotient * second
    return first, ChainStep(operation, second)


def _number(rng: random.Random, digits: int) -> int:
    return rng.randrange(10 ** (digits - 1), 10**digits)
