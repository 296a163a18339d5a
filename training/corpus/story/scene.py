"""A small grammar: patterns with choices and slots, and a scene that keeps each slot's value."""

import random
import re
from typing import NamedTuple

from training.corpus.story import cast

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{([^{}]*)\}")


class Plot(NamedTuple):
    """One plot shape: what it is about, the facts it draws, and its sentences beat by beat.

    A table's first line names its slots, every further line is one choice ("a | b | c").
    Beats are separated by an empty line; each is a choice of lines, and one that begins with a
    line such as "?60" is told in 60 of 100 stories. The last beat is the ending.
    """

    name: str
    asks: str
    brief: str
    beats: str
    tables: tuple[str, ...] = ()
    traits: str = ""


class Scene:
    """The values that one story gives to its slots: drawn when first used, the same ever after."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.slots: dict[str, str] = {}
        self.used: set[str] = set()

    def draw(self, table: str) -> None:
        """Draw one line of a table into the slots that its first line names."""
        header, *rows = table.strip().splitlines()
        names, values = header.split(" | "), self.rng.choice(rows).split(" | ")
        if len(names) != len(values):
            raise ValueError(f"{header!r} does not fit the row {values!r}")
        self.slots.update(zip(names, values, strict=True))

    def fill(self, pattern: str) -> str:
        """Write one pattern: "[x|y]" is a choice, "{slot}" a value, "{a x y}" has its article."""
        text = self._expand(pattern)
        return text[0].upper() + text[1:]

    def _expand(self, pattern: str) -> str:
        while match := _CHOICE.search(pattern) or _SLOT.search(pattern):
            if match[0][0] == "[":
                value = self.rng.choice(match[1].split("|"))
            else:
                value = self._phrase(match[1])
            pattern = pattern[: match.start()] + value + pattern[match.end() :]
        return pattern

    def _phrase(self, names: str) -> str:
        first, *rest = names.split(" ")
        if first in ("a", "A") and rest:
            words = " ".join(map(self.value, rest))
            an = words[0] in "aeiou" or words.startswith("honest")
            return f"{first}{'n' if an else ''} {words}"
        return " ".join(map(self.value, [first, *rest]))

    def value(self, name: str) -> str:
        """Return a slot's value; "He" is "he" with a capital letter, "food2" another food."""
        if name not in self.slots and name[0].isupper():
            value = self.value(name[0].lower() + name[1:])
            return value[0].upper() + value[1:]
        self.used.add(name)
        if name not in self.slots:
            pool = cast.POOLS[name.rstrip("0123456789")]
            self.slots[name] = self.rng.choice([v for v in pool if v not in self.slots.values()])
        value = self.slots[name]
        if "/" in value:  # a helper: never of the hero's own kind
            kinds = (self.slots["kind"], self.slots.get("fkind"))
            value = self.rng.choice([v for v in value.split("/") if v not in kinds])
        self.slots[name] = value = self._expand(value)
        return value
