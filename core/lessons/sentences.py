"""Fill a lesson's sentences with the facts of the run on screen, and judge an answer by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from ..figures.base.labels import unspaced
from ..language import current, tr
from ..language.catalogue import ENGLISH
from ..language.particles import with_particles
from .facts import FACTS
from .finding import PageFacts
from .types import FactValue, GuessQuestion, LessonStep

# `{text}`: as the page shows it; `{before.text}`: before the learner acted; `{change.text}`: up,
# down, other or same.
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"(?:(before|change)\.)?([a-z_]{1,40})")
_Values: TypeAlias = Mapping[str, FactValue]


def fact_of(name: str) -> str | None:
    """Return the fact that a name stands for, with or without a prefix; None for an unknown one."""
    match = _NAME.fullmatch(name)
    return match[2] if match and match[2] in FACTS else None


def values(step: LessonStep, shown: PageFacts) -> dict[str, FactValue]:
    """Return the values of the facts that a step names, as far as the page shows them."""
    words = (word for _, word in step.settings)
    names = [name for text in (*step.texts, *words) for name in PLACEHOLDER.findall(text)]
    found: dict[str, FactValue] = {}
    for name in filter(None, map(fact_of, [*names, *_asked(step)])):
        try:
            found[name] = FACTS[name].find(shown)
        except (LookupError, ValueError):
            continue
    return found


def _asked(step: LessonStep) -> tuple[str, ...]:
    return (step.ask.fact,) if step.ask is not None else ()


def first_missing(step: LessonStep, now: _Values, before: _Values) -> str:
    """Return the first fact without a value that a step's reveal or question needs; else ""."""
    names = (*PLACEHOLDER.findall(step.reveal), *_asked(step))
    return next((name for name in names if _value(name, now, before) is None), "")


def filled(text: str, now: _Values, before: _Values) -> str:
    """Return a sentence with the facts' words in place of their names."""

    def words(match: re.Match[str]) -> str:
        value = _value(match[1], now, before)
        if value is None:
            return "…"
        fact = FACTS[str(fact_of(match[1]))]
        return str(value) if match[1].startswith("change.") else fact.words(value)

    return _joined(text, words)


def filled_like(text: str, said: str) -> str:
    """Return a sentence in the reader's language with the words that its English form has for the
    facts.

    Args:
        text: the declared sentence with the facts' names.
        said: the same in English, filled.
    """
    if current() == ENGLISH or not said:
        return said
    names, pattern = list[str](), ""
    for at, piece in enumerate(PLACEHOLDER.split(text)):
        pattern += "(.+?)" if at % 2 else re.escape(piece)
        names += [piece] * (at % 2)
    # The full stop behind a quoted sentence is dropped.
    match = re.fullmatch(pattern.replace(r"”\.", r"”\.?"), said, re.DOTALL)
    known = dict(zip(names, match.groups(), strict=True)) if match else {}
    return _joined(tr(text), lambda found: unspaced(known.get(found[1], "…")))


def _joined(text: str, words: Callable[[re.Match[str]], str]) -> str:
    said = with_particles(text, partial(PLACEHOLDER.sub, words))
    # A quoted sentence has its own full stop.
    return re.sub(r"([.!?]”)\.", r"\1", said)


def settings_of(step: LessonStep, carried: _Values) -> dict[str, str]:
    """Return a step's words for the controls, with the carried facts in place of their names."""

    def held(match: re.Match[str]) -> str:
        return str(carried.get(match[1], "")) if match[1] in FACTS else match[0]

    return {name: PLACEHOLDER.sub(held, word) for name, word in step.settings}


def right_choice(question: GuessQuestion, now: _Values, before: _Values) -> int | None:
    """Return the index of the choice that the run makes right; None if there is none."""
    value = _value(question.fact, now, before)
    return None if value is None else question.right(value)


def _value(name: str, now: _Values, before: _Values) -> FactValue | None:
    prefix, _, fact = name.rpartition(".")
    if prefix == "before":
        return before.get(fact)
    if prefix == "change":
        return _change(before.get(fact), now.get(fact))
    return now.get(fact)


def _change(old: FactValue | None, new: FactValue | None) -> str | None:
    if old is None or new is None:
        return None
    if old == new:
        return "same"
    if isinstance(old, str) or isinstance(new, str):
        return "other"
    return "up" if new > old else "down"
