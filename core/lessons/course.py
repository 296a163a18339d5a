"""The course's own lessons."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import cache

from ..installation import ASSETS
from .read import read_lesson
from .types import Lesson

FOLDER = ASSETS / "lessons"
# Name of a lesson from a file, which no link can name, and the beginning of its longer name.
OWN = "own"
_LONGEST_SLUG = 50


@cache
def own_lessons() -> tuple[Lesson, ...]:
    """Return the course's lessons in their order: `NN-name.yaml`."""
    return tuple(
        read_lesson(path, re.sub(r"^\d+-", "", path.stem)) for path in sorted(FOLDER.glob("*.yaml"))
    )


def named_by_content(lesson: Lesson) -> Lesson:
    """Return a lesson from a file under a name of its title and content: equal files have one
    name in all browsers, other ones don't."""
    slug = re.sub(r"\W+", "-", lesson.title)[:_LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(repr(replace(lesson, name=OWN)).encode()).hexdigest()[:12]
    return replace(lesson, name=f"{OWN}-{slug}-{digest}")


def title_in(name: str) -> str:
    """Return the words of the title in the name of a lesson from a file; else the name."""
    if not name.startswith(f"{OWN}-"):
        return name
    return name[len(OWN) + 1 : name.rindex("-")].replace("-", " ").strip() or name


def lesson_of(name: str) -> Lesson | None:
    """Return the lesson of the course with this name; None for any other name."""
    return next((lesson for lesson in own_lessons() if lesson.name == name), None)
