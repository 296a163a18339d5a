"""Sums in any words: symbols, phrases, orders and little stories, one level above the chains."""

import random
import re

from training.corpus import orders, words_tales
from training.corpus import words_sums as words
from training.corpus.document import Document, Message, Part
from training.corpus.expressions import (
    Sum,
    draw_expression,
    fill,
    is_kept,
    put,
    show,
    work_out,
)
from training.corpus.grammar import capitalize, expand, in_words, roughen
from training.corpus.tokens import END_THINK, THINK

_KINDS = {"symbols": 38, "phrase": 13, "question": 21, "orders": 8, "tale": 42}
_SIGNS = {"*": ("x", "×", " times "), "/": ("÷", ":", " over "), "-": ("−", "–")}
_OPERATION = re.compile(r"(?<=[\d)])([-+*/])")
_BELOW_ZERO = ("k-a", "k-m")  # the sums in words whose result may be negative
_IDLE, _NUMBER_WORDS = 0.12, 0.12
_QUESTION_FIRST, _JOINED, _BEGINNING = 0.08, 0.12, 0.06  # of the stories
_CUT = 0.12
# How many chats of a hundred have which system prompt.
_WAYS = {"": 52, "none": 5, "answer": 9, "word": 6, "steps": 7, "sentence": 7, "capitals": 14}
_PIECE = re.compile(r"\d| ?[^\s\d]+|\s")


def plain(rng: random.Random) -> Document:
    """Write a question, the thinking and the answer."""
    question, steps = make_question(rng)
    return (*orders.silent(question), Part("\n"), *_reply(rng, steps))


def chat(rng: random.Random) -> list[Message]:
    """Ask for a sum; a system prompt may ask for a form of the answer."""
    question, steps = make_question(rng)
    ask = Message("user", orders.silent(question))
    way = rng.choices(list(_WAYS), list(_WAYS.values()))[0]
    head = [orders.order(rng, way)] if way else []
    if way in ("", "none"):
        return [*head, ask, Message("assistant", _reply(rng, steps))]
    if way in ("answer", "word"):
        return [*head, ask, Message("assistant", (Part(show(steps[-1].result)),))]
    answer = orders.capitals(_say(steps)) if way == "capitals" else _say(steps)
    return [*head, ask, Message("assistant", (*_think(steps), Part(answer)))]


def make_question(rng: random.Random) -> tuple[str, list[Sum]]:
    """Return a question and the steps of its sum."""
    kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    if kind == "symbols":
        question, expression = _ask_in_symbols(rng)
    elif kind == "orders":
        question, expression = _ask_by_orders(rng)
    elif kind == "tale":
        question, expression = ask_as_tale(rng)
    else:
        question, expression = _ask_in_words(rng, kind)
    steps = work_out(expression)
    assert steps
    return question, steps


def _ask_in_symbols(rng: random.Random) -> tuple[str, str]:
    """Ask for the value of an expression, written with spaces or without, in various signs."""
    expression = draw_expression(rng)
    written = expression
    if rng.random() < 0.65:
        written = _OPERATION.sub(r" \1 ", written)
    for sign, others in _SIGNS.items():
        if rng.random() < 0.15:
            other = rng.choice(others)
            written = re.sub(rf"(?<=[\d) ])\{sign}", other, written)
    carrier = expand(rng, rng.choice(words.SYMBOL_CARRIERS))
    text = re.sub(r"  +", " ", carrier.replace("@", written))
    return roughen(rng, capitalize(text)), expression


def _ask_in_words(rng: random.Random, kind: str) -> tuple[str, str]:
    table = words.PHRASES if kind == "phrase" else words.QUESTIONS
    shape, pattern = rng.choice(table).split(" | ")
    numbers = fill(rng, shape, whole=shape not in _BELOW_ZERO)
    text = expand(rng, pattern, numbers)
    if kind == "phrase":
        text = expand(rng, rng.choice(words.CARRIERS)).replace("@", text)
    if rng.random() < _NUMBER_WORDS:
        text = in_words(text)
    return roughen(rng, capitalize(text)), put(shape, numbers)


def _ask_by_orders(rng: random.Random) -> tuple[str, str]:
    """Ask for the end of a row of orders, each done to what the last one left."""
    while True:
        value = rng.randint(1, 60)
        expression, text = str(value), expand(rng, rng.choice(words.STARTS), {"n": str(value)})
        for _ in range(rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 6))):
            sign = rng.choices(list(words.ORDERS), (4, 4, 2, 1, 1, 1))[0]
            number = sign[1:] or str(rng.randint(2, 30 if sign in "+-" else 9))
            order = expand(rng, rng.choice(words.ORDERS[sign]), {"n": number})
            link = rng.choice(words.LINKS)
            text += link + (capitalize(order) if link.endswith(". ") else order)
            expression = f"({expression}){sign[0]}{number}"
        steps = work_out(expression)
        small = steps and all(0 < step.result == int(step.result) <= 199 for step in steps)
        if small and not is_kept(expression):
            break
    text = f"{text}. {expand(rng, rng.choice(words.FINISHES))}"
    if rng.random() < _NUMBER_WORDS:
        text = in_words(text)
    return roughen(rng, capitalize(text)), expression


def ask_as_tale(rng: random.Random) -> tuple[str, str]:
    """Tell a sum as a little story."""
    shape, pattern = rng.choice(words_tales.TALES).split(" | ")
    numbers = fill(rng, shape, whole=shape not in _BELOW_ZERO)
    slots = {**_cast(rng), **numbers}
    for mark, choices in words_tales.MARKS.items():
        pattern = re.sub(rf"\b{mark}\b", lambda _, text=choices: text, pattern)
    text = expand(rng, pattern, slots)
    if rng.random() < _IDLE and text.count(". "):
        first, rest = text.split(". ", 1)
        text = f"{first}. {expand(rng, rng.choice(words_tales.IDLE), slots)} {rest}"
    text = _retell(rng, text)
    if rng.random() < _NUMBER_WORDS:
        text = in_words(text)
    return roughen(rng, capitalize(text)), put(shape, numbers)


def _retell(rng: random.Random, text: str) -> str:
    """Join a story's first sentences, put its question first, or begin it in another way."""
    told, _, question = text.rpartition(". ")
    if told and question.startswith(("How", "What")) and rng.random() < _QUESTION_FIRST:
        text = f"{question} {told}."
    elif text.count(". ") > 1 and rng.random() < _JOINED:
        first, second = text.split(". ", 1)
        if second.split()[0] in words_tales.SMALL:
            second = second[0].lower() + second[1:]
        text = first + rng.choice((", and ", " and ", "; ", ", ", ", but ")) + second
    if rng.random() < _BEGINNING:
        text = rng.choice(words_tales.BEGINNINGS).replace("@", text)
    return text


def _cast(rng: random.Random) -> dict[str, str]:
    """Draw the people, things and places of a story."""
    girl = rng.random() < 0.5
    names, kin = (
        (words_tales.GIRLS, words_tales.GIRL_KIN)
        if girl
        else (words_tales.BOYS, words_tales.BOY_KIN)
    )
    hero = rng.choice(names if rng.random() < 0.8 else kin)
    others = rng.sample(words_tales.GIRLS + words_tales.BOYS, 3)
    friend, third = [name for name in others if name != hero][:2]
    things = rng.sample(words_tales.THINGS, 2)
    animals = rng.sample(words_tales.ANIMALS, 2)
    places = rng.sample(words_tales.PLACES, 2)
    he, his, him = ("she", "her", "her") if girl else ("he", "his", "him")
    return {
        "N": hero, "M": friend, "L": third, "T": things[0], "U": things[1], "W": animals[0],
        "X": animals[1], "P": places[0], "P2": places[1], "O": rng.choice(words_tales.OUTDOORS),
        "he": he, "He": capitalize(he), "his": his, "him": him, "i": str(rng.randint(3, 12)),
    }  # fmt: skip


def _say(steps: list[Sum]) -> str:
    return f"The answer is {show(steps[-1].result)}."


def _think(steps: list[Sum]) -> Document:
    return (Part(f"{THINK}{' '.join(map(str, steps))}{END_THINK}"),)


def _reply(rng: random.Random, steps: list[Sum]) -> Document:
    """Think to the end or as far as a budget lets it, and say the answer."""
    if rng.random() >= _CUT:
        return (*_think(steps), Part(_say(steps)))
    pieces = _PIECE.findall(" ".join(map(str, steps)))
    begun = "".join(pieces[: rng.randrange(len(pieces))])
    return (Part(THINK + begun), Part(END_THINK, learned=False), Part(_say(steps)))
