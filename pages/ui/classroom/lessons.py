"""Questions of lessons, as a teacher chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.decoding.counting import nth
from core.language import tr
from core.lessons.course import title_in
from core.lessons.sentences import filled
from core.lessons.types import Lesson
from pages.ui.classroom.rooms import MOST_CHOICES, ROOMS, Room
from pages.ui.course.lessons import own_lessons
from pages.ui.course.state import Course


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a lesson.

    Args:
        lesson, name: the keys under which guesses are counted.
        title: title of the lesson, and the number of the question in it.
        words: text of the question.
        choices: texts of the answers.
    """

    lesson: str
    name: str
    title: str
    words: str
    choices: tuple[str, ...]


def known() -> dict[str, Lesson]:
    """Return the course's lessons and the one that this session opened from a file, by name."""
    opened = Course.current().opened
    return {each.name: each for each in (*own_lessons(), *([opened] if opened else []))}


def questions(room: Room, lesson: str, answered: Iterable[str]) -> list[Asked]:
    """Return the questions of a lesson; of an unknown one those that were answered."""
    found = known().get(lesson)
    if found is None:
        return _unknown(room, lesson, answered)
    return [
        Asked(
            lesson,
            str(at),
            tr("{title}, question {place}", title=found.title, place=nth(place)),
            filled(ask.words, {}, {}),
            tuple(choice.words for choice in ask.choices),
        )
        for place, at in enumerate(found.questions)
        if (ask := found.steps[at].ask) is not None
    ]


def _unknown(room: Room, lesson: str, names: Iterable[str]) -> list[Asked]:
    """Return the answered questions of an unknown lesson, whose answers have numbers alone."""
    made = []
    for at, name in enumerate(sorted(names, key=_in_order)):
        counts = ROOMS.counts(room.code, lesson, name)
        count = min(MOST_CHOICES, max(2, *(place + 1 for place in counts)))
        choices = tuple(tr("Answer {place}", place=nth(place)) for place in range(count))
        words = tr("This lesson's text is in the file that your pupils opened.")
        made.append(
            Asked(
                lesson,
                name,
                tr("{title}, question {place}", title=title_in(lesson), place=nth(at)),
                words,
                choices,
            )
        )
    return made


def _in_order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (-1, name)


def find(questions: Sequence[Asked], name: str) -> int:
    """Return the place of a question by its name; the first for an unknown one."""
    return next((at for at, asked in enumerate(questions) if asked.name == name), 0)
