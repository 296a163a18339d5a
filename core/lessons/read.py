"""Read a lesson from YAML; the first fault is one sentence with its place.

docs/lessons.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..decoding.counting import nth
from ..decoding.errors import LessonError
from ..decoding.validation import brief
from ..language import N_, Message
from ..traces.bounded_file import bytes_of
from ..traces.bounded_yaml import read_yaml
from .sentences import PLACEHOLDER, fact_of
from .types import (
    FactValue,
    GuessChoice,
    GuessQuestion,
    Lesson,
    LessonStep,
    Target,
    Wait,
)

MAX_BYTES = 100_000
_WHAT = Message("lesson")
MAX_STEPS, MAX_CHOICES, MAX_SETTINGS = 40, 6, 40
MAX_WORDS, MAX_TITLE, MAX_CHOICE, MAX_VALUE = 1_000, 80, 120, 4_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,59}")
_PATH = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TARGET = re.compile(r"(>=|<=) *(-?\d{1,9}(?:\.\d{1,9})?)")
_STEP_FIELDS = ("say", "page", "set", "ask", "do", "point", "wait", "to", "reveal")
_CHOICE_FIELDS = ("words", "is", "least", "most", "otherwise")
_WAITS = tuple(filter(None, get_args(Wait)))
_RELATIONS: dict[str, Literal[">=", "<="]] = {">=": ">=", "<=": "<="}


def read_lesson(source: bytes | str | Path, name: str) -> Lesson:
    """Return the lesson of a YAML file.

    Args:
        source: the file's bytes, or its path.
        name: its name in links.

    Raises:
        LessonError: the first fault; for a YAML fault, with its line.
    """
    data = read_yaml(bytes_of(source, MAX_BYTES, _WHAT, LessonError), _WHAT, LessonError, MAX_VALUE)
    lesson = _Fields(data, N_("The lesson"), ("title", "minutes", "summary", "steps"))
    steps = lesson.items("steps", MAX_STEPS)
    read = tuple(
        _step(_Fields(step, Message("Step {number}", number=n), _STEP_FIELDS))
        for n, step in enumerate(steps, 1)
    )
    if not read[0].page:
        raise LessonError(Message("Step 1 needs a page: the lesson begins there."))
    return Lesson(
        name,
        lesson.text("title", MAX_TITLE, needed=True),
        int(lesson.number("minutes", 1, 600, needed=True) or 0),
        lesson.text("summary", MAX_WORDS, needed=True),
        read,
    )


class _Fields:
    """Named fields of an object of the file, read with bounds.

    Args:
        place: the object's place in messages, such as "Step 3".
    """

    def __init__(self, content: Any, place: str, allowed: Sequence[str]) -> None:
        if not isinstance(content, dict):
            raise LessonError(
                Message(
                    "{place} must be an object with the fields {allowed}.",
                    place=place,
                    allowed=", ".join(allowed),
                )
            )
        unknown = next((name for name in content if name not in allowed), None)
        if unknown is not None:
            raise LessonError(
                Message(
                    "{place} has no field {field}; {allowed}.",
                    place=place,
                    field=brief(unknown),
                    allowed=", ".join(allowed),
                )
            )
        self.place, self._content = place, content

    def __contains__(self, name: str) -> bool:
        return self._content.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        return self._content.get(name)

    def refuse(self, name: str, rule: str) -> LessonError:
        """Return the error of a field: the rule and the given value."""
        given = "nothing" if self[name] is None else brief(self[name])
        return LessonError(
            Message(
                "{place}: {name} must be {rule}, got {given}.",
                place=self.place,
                name=name,
                rule=rule,
                given=given,
            )
        )

    def refuse_boolean(self, name: str) -> None:
        """Refuse a word that YAML reads as true or false."""
        if isinstance(self[name], bool):
            raise LessonError(
                Message(
                    "{place}: {name} is read as {word}: put yes, no, true, false, on or off "
                    "in quotes.",
                    place=self.place,
                    name=name,
                    word=str(self[name]).lower(),
                )
            )

    def text(self, name: str, longest: int, *, needed: bool = False) -> str:
        """Return a text in one line; line breaks of the file are spaces."""
        held = self[name]
        if held is None and not needed:
            return ""
        self.refuse_boolean(name)
        if not isinstance(held, str) or not held.strip() or len(held) > longest:
            raise self.refuse(
                name, Message("a text of at most {longest:,} characters", longest=longest)
            )
        words = " ".join(held.split())
        if not words.isprintable():
            raise self.refuse(name, Message("a text without control characters"))
        return words

    def number(self, name: str, low: float, high: float, *, needed: bool = False) -> float | None:
        """Return a number of this interval; None where it is left out."""
        held = self[name]
        if held is None and not needed:
            return None
        if isinstance(held, bool) or not isinstance(held, int | float) or not low <= held <= high:
            raise self.refuse(
                name, Message("a number from {low:,} to {high:,}", low=low, high=high)
            )
        return float(held)

    def items(self, name: str, most: int) -> list[Any]:
        """Return a list of one to so many items."""
        held = self[name]
        if not isinstance(held, list) or not 1 <= len(held) <= most:
            raise self.refuse(name, Message("a list of 1 to {most} items", most=most))
        return held

    def matched(self, name: str, form: re.Pattern[str], words: str) -> str:
        """Return a text of this form; empty where it is left out."""
        held = self[name]
        if held is None:
            return ""
        if not isinstance(held, str) or not form.fullmatch(held):
            raise self.refuse(name, words)
        return held


def _step(step: _Fields) -> LessonStep:
    wait = step["wait"] or ""
    if wait and wait not in _WAITS:
        raise step.refuse("wait", Message("one of {waits}", waits=", ".join(_WAITS)))
    point = step.matched("point", _NAME, N_("the name of a control"))
    if wait == "move" and not point:
        raise LessonError(
            Message(
                "{place}: wait: move needs point, the control that must move.", place=step.place
            )
        )
    if "to" in step and wait != "move":
        raise LessonError(Message("{place}: to needs wait: move.", place=step.place))
    if "set" in step and "page" not in step:
        raise LessonError(
            Message(
                "{place}: set needs page, which begins anew with these controls.", place=step.place
            )
        )
    read = LessonStep(
        say=step.text("say", MAX_WORDS, needed=True),
        page=step.matched("page", _PATH, N_("the path of a page, such as decode")),
        settings=_settings(step),
        ask=_question(
            _Fields(
                step["ask"],
                Message("{place}: ask", place=step.place),
                ("question", "fact", "choices"),
            )
        )
        if "ask" in step
        else None,
        do=step.text("do", MAX_WORDS),
        point=point,
        wait=cast(Wait, wait),
        to=_target(step) if "to" in step else None,
        reveal=step.text("reveal", MAX_WORDS),
    )
    for name in PLACEHOLDER.findall(" ".join(read.texts)):
        _require_fact(name, step.place)
    for text in read.texts:
        if "{" in (rest := PLACEHOLDER.sub("", text)) or "}" in rest:
            raise LessonError(
                Message(
                    "{place} has a brace without its other one: {excerpt}.",
                    place=step.place,
                    excerpt=brief(text),
                )
            )
    return read


def _settings(step: _Fields) -> tuple[tuple[str, str], ...]:
    held = step["set"]
    if held is None:
        return ()
    if not isinstance(held, dict) or len(held) > MAX_SETTINGS:
        raise step.refuse(
            "set",
            Message(
                "at most {most} names of controls with their values",
                most=MAX_SETTINGS,
            ),
        )
    for name, value in held.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise LessonError(
                Message(
                    "{place}: set has {name}, which is no control's name.",
                    place=step.place,
                    name=brief(name),
                )
            )
        if not isinstance(value, str | int | float) or len(str(value)) > MAX_VALUE:
            raise LessonError(
                Message(
                    "{place}: {name} must be a text, a number, true or false, got {value}.",
                    place=step.place,
                    name=name,
                    value=brief(value),
                )
            )
    return tuple((name, _word(value)) for name, value in held.items())


def _word(value: Any) -> str:
    """A value as the address has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _target(step: _Fields) -> Target:
    held = step["to"]
    if not isinstance(held, str | int | float) or len(str(held)) > MAX_VALUE:
        raise step.refuse("to", Message("a value, or a bound such as “>= 1.5”"))
    bound = _TARGET.fullmatch(str(held))
    return Target(_RELATIONS[bound[1]], bound[2]) if bound else Target("is", _word(held))


def _question(ask: _Fields) -> GuessQuestion:
    fact = ask["fact"]
    _require_fact(fact, ask.place)
    listed = ask.items("choices", MAX_CHOICES)
    choices = tuple(
        _choice(
            _Fields(
                choice,
                Message("{place}, choice {number}", place=ask.place, number=n),
                _CHOICE_FIELDS,
            )
        )
        for n, choice in enumerate(listed, 1)
    )
    if len(choices) < 2:
        raise LessonError(Message("{place} needs two choices or more.", place=ask.place))
    for one, other in combinations(range(len(choices)), 2):
        if choices[one].overlaps(choices[other]):
            raise LessonError(
                Message(
                    "{place} has two choices that can both be right: {one} and {other}.",
                    place=ask.place,
                    one=nth(one),
                    other=nth(other),
                )
            )
    return GuessQuestion(ask.text("question", MAX_WORDS, needed=True), fact, choices)


def _choice(choice: _Fields) -> GuessChoice:
    otherwise = choice["otherwise"]
    if otherwise not in (None, True):
        raise choice.refuse("otherwise", "true")
    least, most = (choice.number(name, -1e12, 1e12) for name in ("least", "most"))
    choice.refuse_boolean("is")
    value = choice["is"]
    ways = (value is not None, least is not None or most is not None, bool(otherwise))
    if sum(ways) != 1:
        raise LessonError(
            Message(
                "{place} needs one of is, least with most, or otherwise: when it is right.",
                place=choice.place,
            )
        )
    if value is not None and (not isinstance(value, str | int | float) or len(str(value)) > 200):
        raise choice.refuse("is", Message("a text or a number"))
    fixed: FactValue | None = value if isinstance(value, str) or value is None else float(value)
    return GuessChoice(
        choice.text("words", MAX_CHOICE, needed=True), fixed, least, most, bool(otherwise)
    )


def _require_fact(name: Any, place: str) -> None:
    if not isinstance(name, str) or fact_of(name) is None:
        raise LessonError(
            Message(
                "{place} names the fact {fact}, which there isn't; docs/lessons.md lists them.",
                place=place,
                fact=brief(name),
            )
        )
