"""Stored transcripts: the sentences of the course's lessons as the panel said them, with numbers.

`python -m tests.browser.course.transcripts` plays the lessons and writes the file.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..decoding.errors import LessonError
from ..decoding.files import own_json
from ..installation import ASSETS
from ..language import Message, tr
from .sentences import filled, filled_like
from .types import Lesson, LessonStep

FILE = ASSETS / "lessons" / "transcripts.json"


class SpokenStep(NamedTuple):
    """A step's sentences with the numbers of a played run.

    Args:
        right: index of the right choice; None if there is no question or its answer isn't known.
        reveal: empty if the step was never played.
    """

    say: str
    question: str
    do: str
    reveal: str
    right: int | None = None


def spoken(lesson: Lesson) -> tuple[SpokenStep, ...]:
    """Return a lesson's sentences in the reader's language: as they were played, or without numbers
    if it never was.
    """
    played = _stored().get(lesson.name)
    if played is None or len(played) != len(lesson.steps):
        return tuple(map(_unplayed, lesson.steps))
    return tuple(
        SpokenStep(
            filled_like(own.say, step["say"]),
            filled_like(own.ask.words if own.ask else "", step["question"]),
            filled_like(own.do, step["do"]),
            filled_like(own.reveal, step["reveal"]),
            step["right"] if step["right"] >= 0 else None,
        )
        for own, step in zip(lesson.steps, played, strict=True)
    )


def _unplayed(step: LessonStep) -> SpokenStep:
    question = step.ask.words if step.ask else ""
    say, question, do = (filled(tr(text), {}, {}) for text in (step.say, question, step.do))
    return SpokenStep(say, question, do, "")


@cache
def _stored() -> dict[str, list[dict[str, Any]]]:
    stored: dict[str, list[dict[str, Any]]] = {}
    if FILE.exists():
        stored = own_json(FILE, Message("The stored transcripts"), LessonError)
    return stored
