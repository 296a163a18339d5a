"""The controls of the Class page: the lesson whose questions are shown."""

from __future__ import annotations

from typing import Any

from core.language import N_, tr
from core.lessons.course import title_in
from pages.ui.classroom import lessons
from pages.ui.classroom.rooms import ROOMS
from pages.ui.classroom.state import ClassView
from pages.ui.widgets.controls.control import declare
from pages.ui.widgets.controls.options import Menu

NEWEST = "newest"


def _lessons() -> dict[str, str]:
    """Return the lessons by name; those that the class has answered are among them."""
    room = ClassView.current().room
    asked = {lesson: title_in(lesson) for lesson, _ in ROOMS.tally(room.code).asked} if room else {}
    titles = {name: lesson.title for name, lesson in lessons.known().items()}
    return {NEWEST: tr("The one answered last"), **asked, **titles}


(LESSON,) = declare(
    Menu("class_lesson", N_("Lesson"), NEWEST, _lessons, width=340,
        help=N_("The lesson whose questions are shown here. Your pupils choose theirs on "
            "Course.")),
)  # fmt: skip


def load_controls(_: Any) -> None:
    """A file of another page sets nothing here."""
