"""The course's own lessons."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from core.lessons.read import read_lesson
from core.lessons.types import Lesson

FOLDER = Path(__file__).parents[2] / "assets" / "lessons"
# Name of a lesson that was opened from a file, which no link can name.
OWN = "own"


@cache
def own_lessons() -> tuple[Lesson, ...]:
    """Return the course's lessons in their order: `NN-name.yaml`."""
    return tuple(
        read_lesson(path, re.sub(r"^\d+-", "", path.stem)) for path in sorted(FOLDER.glob("*.yaml"))
    )


def lesson_of(name: str) -> Lesson | None:
    """Return the lesson of the course with this name; None for any other name."""
    return next((lesson for lesson in own_lessons() if lesson.name == name), None)
