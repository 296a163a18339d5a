"""Lists of things of one kind, each at most once, in their order where they have one."""

import random
from typing import NamedTuple

from training.corpus import orders
from training.corpus import words_lists as words
from training.corpus.document import Document, Message, Part
from training.corpus.grammar import capitalize, roughen

KINDS = {
    kind: items.split(", ") for kind, items in (r.split(": ") for r in words.KINDS.split("\n"))
}
SERIES = {
    kind: items.split(", ") for kind, items in (r.split(": ") for r in words.SERIES.split("\n"))
}
COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()
LENGTHS = {3: 4, 4: 6, 5: 9, 6: 10, 7: 10, 8: 9, 9: 6, 10: 5, 11: 2, 12: 2}


_WAYS = {"word": 14, "sentence": 7, "answer": 13, "lines": 16, "capitals": 16}  # of a hundred


class List(NamedTuple):
    """A list: its kind, its items, and whether they are in an order of their own."""

    kind: str
    items: list[str]
    ordered: bool

    @property
    def text(self) -> str:
        """Return the items with commas and a full stop."""
        return ", ".join(self.items) + "."


def make_list(rng: random.Random) -> List:
    """Make a list: a series from its beginning, or things of one kind, the best known early."""
    if rng.random() < 0.22:
        kind = rng.choice(list(SERIES))
        items = SERIES[kind]
        whole = len(items) <= 12 and rng.random() < 0.75
        length = len(items) if whole else rng.randint(3, len(items))
        return List(kind, items[:length], True)
    kind = "colors" if rng.random() < 0.03 else rng.choice(list(KINDS))
    length = min(rng.choices(list(LENGTHS), list(LENGTHS.values()))[0], len(KINDS[kind]))
    return List(kind, soft_order(rng, KINDS[kind])[:length], False)


def soft_order(rng: random.Random, items: list[str]) -> list[str]:
    """Shuffle a little: the best known items stay early, and so no list runs in a circle."""
    places = [(place + rng.uniform(0, 5), item) for place, item in enumerate(items)]
    return [item for _, item in sorted(places)]


def plain(rng: random.Random) -> Document:
    """Write one list with its heading, such as "A list of colors: red, green, blue."."""
    share = rng.random()
    if share < 0.06:
        return (Part(_counting(rng)),)
    made = make_list(rng)
    heads = (words.SERIES_HEADS if made.ordered else words.HEADS).splitlines()
    return (Part(_fill(rng.choice(heads), made)),)


def chat(rng: random.Random) -> list[Message]:
    """Ask for a list, often of a certain length, and answer with it."""
    way = rng.choices(("", "own", *_WAYS), (30, 25, *_WAYS.values()))[0]
    made = make_list(rng)
    while way == "word" and made.ordered:
        made = make_list(rng)
    whole = made.ordered and len(made.items) == len(SERIES[made.kind])
    countable = not whole and len(made.items) <= 12 and way != "word"
    counted = countable and (made.ordered or rng.random() < 0.6)
    if made.ordered and not whole and not counted:
        made, whole = List(made.kind, SERIES[made.kind], True), True
    if made.ordered:
        asks = words.SERIES_ASKS if whole else words.FIRST_ASKS
    else:
        asks = words.COUNTED_ASKS if counted else words.ASKS
    ask = _fill(rng.choice(asks.splitlines()), made)
    if not made.ordered and rng.random() < 0.12:
        ask = ask.replace(f" {made.kind}", f" {rng.choice(words.ADJECTIVES)} {made.kind}")
    system, answer = _form(rng, way, made, counted)
    ask = roughen(rng, ask) if rng.random() < 0.4 else ask
    head = [Message("system", (Part(system),))] if system else []
    return [*head, Message("user", (Part(ask),)), Message("assistant", (Part(answer),))]


def _form(rng: random.Random, way: str, made: List, counted: bool) -> tuple[str, str]:
    """A system prompt, or none, and the list in the form that it asks for."""
    if way == "own":
        system = rng.choice(words.SYSTEMS.splitlines())
        return system, made.text if "list" in system else _reply(rng, made, counted)
    forms = {
        "": _reply(rng, made, counted),
        "word": capitalize(f"{made.items[0]}."),
        "sentence": f"{'The' if made.ordered else 'Some'} {made.kind} are {made.text}",
        "answer": made.text,
        "lines": "\n".join(made.items),
        "capitals": orders.capitals(made.text),
    }
    return orders.system(rng, way) if way else "", forms[way]


def _reply(rng: random.Random, made: List, counted: bool) -> str:
    replies = words.REPLIES.splitlines()
    if made.ordered or not counted:
        replies = [reply for reply in replies if "count" not in reply]
    return _fill(rng.choice(replies), made)


def _fill(pattern: str, made: List) -> str:
    count = COUNTS[len(made.items)] if len(made.items) < len(COUNTS) else str(len(made.items))
    text = pattern.format(
        kind=made.kind, Kind=made.kind[0].upper() + made.kind[1:], count=count, items=made.text
    )
    return text[0].upper() + text[1:]


def _counting(rng: random.Random) -> str:
    """Count from one number to another, in words or in digits, up or down."""
    start, steps, down = rng.randint(1, 9), rng.randint(3, 9), rng.random() < 0.35
    if rng.random() < 0.5:
        names, end = COUNTS, min(start + steps, 12)
    else:
        start = rng.randint(1, 90)
        names, end = [str(number) for number in range(101)], start + steps
    items = names[start : end + 1][:: -1 if down else 1]
    way = "Count down" if down else "Count"
    return f"{way} from {items[0]} to {items[-1]}: {', '.join(items)}."
