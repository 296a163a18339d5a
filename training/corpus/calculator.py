"""Sums too hard for the model alone: it writes a call, and the result is put in for it."""

import random

from core.evaluation.questions.hard_sums import ask_hard_sum as ask
from core.evaluation.questions.hard_sums import draw_hard_sum as draw_problem
from training.corpus.document import Document, Message, Part
from training.corpus.problems import ChainStep, Problem, without_numbers
from training.corpus.tokens import CALL, END_RESULT, RESULT

SYSTEMS = (
    "Use the calculator.",
    "You have a calculator.",
    "Use the calculator for hard sums.",
    "You are a helpful assistant.",
)


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


def call_of(value: int, step: ChainStep) -> str:
    """The call that asks the calculator for one operation."""
    return f"{CALL}{value}{step.operation}{step.operand}{RESULT}"


def _reply(problem: Problem) -> Document:
    parts: list[Part] = []
    values = problem.values
    for value, step, result in zip(values[:-1], problem.steps, values[1:], strict=True):
        parts += [Part(call_of(value, step)), Part(f"{result}{END_RESULT}", learned=False)]
    return (*parts, Part(f"The answer is {problem.answer}."))
