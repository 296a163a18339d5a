"""Sums too hard for the model alone: it writes a call, and the result is put in for it."""

import random

from training.corpus.document import Document, Message, Part
from training.corpus.problems import Problem, Step, expression, is_held_out, without_numbers
from training.corpus.tokens import CALL, END_RESULT, RESULT

SYSTEMS = (
    "Use the calculator.",
    "You have a calculator.",
    "Use the calculator for hard sums.",
    "You are a helpful assistant.",
)
_FORMS = ("What is {}?", "Compute {}.", "{} = ?")
_SPOKEN = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}


def plain(rng: random.Random) -> Document:
    """Write a question, the calls with their results, and the answer."""
    problem = draw_problem(rng)
    return (*without_numbers(ask(rng, problem)), Part("\n"), *_reply(problem))


def chat(rng: random.Random) -> list[Message]:
    """Write a question and its answer, half of the time with a system prompt."""
    problem = draw_problem(rng)
    question = without_numbers(ask(rng, problem))
    messages = [Message("user", question), Message("assistant", _reply(problem))]
    if rng.random() < 0.5:
        messages.insert(0, Message("system", (Part(rng.choice(SYSTEMS)),)))
    return messages


def draw_problem(rng: random.Random, held_out: bool = False) -> Problem:
    """Draw one or two operations on numbers of 3 to 5 digits (a factor may have 2)."""
    while True:
        problem = _draw(rng, rng.choice((1, 1, 2)))
        if is_held_out(problem.key) == held_out:
            return problem


def ask(rng: random.Random, problem: Problem) -> str:
    """Ask in symbols, or a single operation in words."""
    (operation, operand), *more = problem.steps
    if not more and rng.random() < 0.3:
        return f"What is {problem.start} {_SPOKEN[operation]} {operand}?"
    return rng.choice(_FORMS).format(expression(problem))


def call_of(value: int, step: Step) -> str:
    """The call that asks the calculator for one operation."""
    return f"{CALL}{value}{step.operation}{step.operand}{RESULT}"


def _reply(problem: Problem) -> Document:
    parts: list[Part] = []
    values = problem.values
    for value, step, result in zip(values[:-1], problem.steps, values[1:], strict=True):
        parts += [Part(call_of(value, step)), Part(f"{result}{END_RESULT}", learned=False)]
    return (*parts, Part(f"The answer is {problem.answer}."))


def _draw(rng: random.Random, count: int) -> Problem:
    operation = rng.choice("+-*/")
    start, first = _draw_first(rng, operation)
    problem = Problem(start, (first,))
    if count == 1:
        return problem
    value = problem.answer
    second = rng.choice("+-") if value >= 100 else "+"
    operand = _number(rng, rng.randint(3, 5))
    if second == "-":
        operand = min(operand, rng.randint(1, value))
    return Problem(start, (first, Step(second, operand)))


def _draw_first(rng: random.Random, operation: str) -> tuple[int, Step]:
    first, second = _number(rng, rng.randint(3, 5)), _number(rng, rng.randint(3, 5))
    if operation == "-":
        first, second = max(first, second), min(first, second)
    if operation == "*":
        first, second = _number(rng, rng.randint(3, 4)), _number(rng, rng.randint(2, 4))
    if operation == "/":
        quotient = _number(rng, rng.randint(2, 3))
        second = _number(rng, 2)
        first = quotient * second
    return first, Step(operation, second)


def _number(rng: random.Random, digits: int) -> int:
    return rng.randrange(10 ** (digits - 1), 10**digits)
