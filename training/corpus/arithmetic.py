"""Step-by-step arithmetic: thinking in full, cut short, left out, or put right on the way."""

import random
import re

from training.corpus.document import Document, Message, Part
from training.corpus.problems import (
    LARGEST,
    MOST_STEPS,
    Problem,
    ask_in_symbols,
    ask_in_words,
    calculate,
    draw_problem,
    is_held_out,
    without_numbers,
)
from training.corpus.tokens import END_THINK, THINK
from training.corpus.word_problems import ask_as_tale

THINKING_SYSTEMS = (
    "Think step by step.",
    "Think before you answer.",
    "Show your steps, then answer.",
    "Solve the problem step by step.",
)
SHORT_SYSTEMS = (
    "Give only the final answer.",
    "Answer with the number only.",
    "Only the number, please.",
)
HASTY_SYSTEMS = ("Answer without thinking.", "Answer at once.", "Don't think, just answer.")
NEUTRAL_SYSTEMS = ("You are a helpful assistant.", "You are good at arithmetic.")
# How many documents of a hundred think in which way.
_FULL, _CUT, _NONE = 66, 20, 14
_MULTIPLICATIONS, _TALES, _WORDS = 0.08, 0.15, 0.4
_MISTAKES, _CHECKS = 0.05, 0.03
_SLIPS = 0.03  # of the sums of a chain that is thought through in full
_EMPTY = 0.15  # of the cut ones
# Where a thinking may be cut: between its tokens.
_PIECE = re.compile(r"\d| ?[^\s\d]+|\s")

Sum = tuple[int, str, int]


def plain(rng: random.Random) -> Document:
    """Write a question, the thinking and the answer."""
    question, sums, answer = make_question(rng)
    return (*question, Part("\n"), *_reply(rng, sums, answer))


def chat(rng: random.Random) -> list[Message]:
    """Write a question and its answer; a system prompt says how to think."""
    question, sums, answer = make_question(rng)
    kind = rng.choices(("full", "cut", "none"), (_FULL, _CUT, _NONE))[0]
    if kind == "none":
        short = rng.random() < 0.5
        system = rng.choice(SHORT_SYSTEMS if short else HASTY_SYSTEMS)
        reply: Document = (Part(str(answer) if short else say(answer)),)
    else:
        system = rng.choice((*THINKING_SYSTEMS, *NEUTRAL_SYSTEMS))
        reply = _think(rng, sums, answer) if kind == "full" else _cut_short(rng, sums, answer)
    messages = [Message("user", question), Message("assistant", reply)]
    if kind == "none" or rng.random() < 0.5:
        messages.insert(0, Message("system", (Part(system),)))
    return messages


def make_question(rng: random.Random) -> tuple[Document, list[Sum], int]:
    """Return a question from the training's problems, its sums in order, and the answer."""
    if rng.random() < _MULTIPLICATIONS:
        first, second = draw_factors(rng)
        text = rng.choice(("What is {} * {}?", "Compute {} * {}.", "What is {} times {}?"))
        sums = multiply_by_parts(first, second)
        return without_numbers(text.format(first, second)), sums, first * second
    problem = draw_problem(rng, rng.randint(1, MOST_STEPS))
    return without_numbers(ask(rng, problem)), sums_of(problem), problem.answer


def ask(rng: random.Random, problem: Problem) -> str:
    """Ask for the answer of a chain in words, in symbols or as a tale."""
    chance = rng.random()
    if chance < _TALES:
        return ask_as_tale(rng, problem)
    return (ask_in_words if chance < _TALES + _WORDS else ask_in_symbols)(rng, problem)


def sums_of(problem: Problem) -> list[Sum]:
    """The sums that lead from the start of a chain to its answer."""
    values = problem.values[:-1]
    return [(value, *step) for value, step in zip(values, problem.steps, strict=True)]


def draw_factors(rng: random.Random, held_out: bool = False) -> tuple[int, int]:
    """Draw two factors of two digits, neither a multiple of ten."""
    numbers = [number for number in range(11, 100) if number % 10]
    while True:
        first, second = rng.choice(numbers), rng.choice(numbers)
        if is_held_out(f"{first}*{second}") == held_out:
            return first, second


def multiply_by_parts(first: int, second: int) -> list[Sum]:
    """The sums of a multiplication done with the tens, then with the ones."""
    tens, ones = second - second % 10, second % 10
    return [(first, "*", tens), (first, "*", ones), (first * tens, "+", first * ones)]


def write_sum(value: int, operation: str, operand: int) -> str:
    """Write a sum up to its equals sign."""
    return f"{value} {operation} {operand} = "


def say(answer: int) -> str:
    """The sentence that ends a reply."""
    return f"The answer is {answer}."


def _reply(rng: random.Random, sums: list[Sum], answer: int) -> Document:
    kind = rng.choices(("full", "cut", "none"), (_FULL, _CUT, _NONE))[0]
    if kind == "none":
        # Nothing asks for haste here, so the first word of it must not be learned.
        first, rest = say(answer).split(" ", 1)
        return (Part(first, learned=False), Part(f" {rest}"))
    return _think(rng, sums, answer) if kind == "full" else _cut_short(rng, sums, answer)


def _think(rng: random.Random, sums: list[Sum], answer: int) -> Document:
    """Think to the end, mostly right, and say the answer that was reached."""
    slipped = _slip(rng, sums)
    if slipped:
        lines = " ".join(f"{write_sum(*one)}{result}." for one, result in slipped)
        return (Part(f"{THINK}{lines}{END_THINK}{say(slipped[-1][1])}"),)
    return (*_think_rightly(rng, sums), Part(say(answer)))


def _slip(rng: random.Random, sums: list[Sum]) -> list[tuple[Sum, int]]:
    """A chain's sums with a wrong result that nobody notices; none if there was no slip.

    The next sum goes on from the wrong result. A model that learned this errs now and then when
    it samples, and never when it takes the likeliest token: a vote puts it right.
    """
    done: list[tuple[Sum, int]] = []
    for value, operation, operand in sums:
        if done and value != calculate(*sums[len(done) - 1]):
            return []  # not a chain
        start = done[-1][1] if done else value
        if operation == "/" and start % operand:
            return []
        right = calculate(start, operation, operand)
        if not 0 <= right <= LARGEST:
            return []
        result = _mistake(rng, right) if rng.random() < _SLIPS else right
        done.append(((start, operation, operand), result))
    return done if done[-1][1] != calculate(*sums[-1]) else []


def _think_rightly(rng: random.Random, sums: list[Sum]) -> Document:
    parts: list[Part] = [Part(THINK)]
    noticed = rng.randrange(len(sums)) if rng.random() < _MISTAKES else -1
    for index, one in enumerate(sums):
        right = calculate(*one)
        if index:
            parts.append(Part(" "))
        if index == noticed:
            wrong = _mistake(rng, right)
            parts += [Part(write_sum(*one)), Part(str(wrong), learned=False), Part(". Wait, ")]
        parts.append(Part(f"{write_sum(*one)}{right}."))
    if noticed < 0 and rng.random() < _CHECKS:
        again = f" {write_sum(*sums[-1])}{calculate(*sums[-1])}."
        parts += [Part(" Wait,", learned=False), Part(again)]
    return (*parts, Part(END_THINK))


def _cut_short(rng: random.Random, sums: list[Sum], answer: int) -> Document:
    return (Part(THINK + _cut(rng, sums)), Part(END_THINK, learned=False), Part(say(answer)))


def _cut(rng: random.Random, sums: list[Sum]) -> str:
    """The beginning of a thinking, ended anywhere, also in the middle of a step."""
    if rng.random() < _EMPTY:
        return ""
    text = " ".join(f"{write_sum(*one)}{calculate(*one)}." for one in sums)
    pieces = _PIECE.findall(text)
    return "".join(pieces[: rng.randrange(len(pieces))])


def _mistake(rng: random.Random, right: int) -> int:
    """A wrong result that is easily taken for the right one."""
    nearby = [right + change for change in (-10, -2, -1, 1, 2, 10) if right + change >= 0]
    return rng.choice(nearby)
