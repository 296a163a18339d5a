"""The check of a lesson against the pages, and the page of a step."""

from __future__ import annotations

from core.decoding.errors import LessonError
from core.decoding.validation import brief
from core.language import Message
from core.lessons.course import OWN as OWN
from core.lessons.course import lesson_of as lesson_of
from core.lessons.course import own_lessons as own_lessons
from core.lessons.types import Lesson, LessonStep
from pages.ui import registry
from pages.ui.course.places import control_at, place_of
from pages.ui.registry import Page


def page_of(lesson: Lesson, at: int) -> Page:
    """Return the page on which a step is.

    Raises:
        LessonError: there is no such page.
    """
    begins = lesson.begins(at)
    path = lesson.steps[begins].page
    page = registry.page_at(path)
    if path == page.path:
        return page
    paths = ", ".join(page.path for page in registry.PAGES if page.path)
    raise LessonError(
        Message(
            "Step {step}: there is no page {page}; {paths}.",
            step=begins + 1,
            page=brief(path),
            paths=paths,
        )
    )


def checked(lesson: Lesson) -> Lesson:
    """Return the lesson, all of whose pages and controls there are.

    Raises:
        LessonError: the first that there isn't, with its step.
    """
    for at, step in enumerate(lesson.steps):
        page = page_of(lesson, at)
        page.load_controls.find()  # Declares the page's controls.
        _check(step, page, Message("Step {number}", number=at + 1))
    return lesson


def _check(step: LessonStep, page: Page, place: str) -> None:
    for name, _ in step.settings:
        if control_at(name, page) is None:
            raise LessonError(
                Message(
                    "{place}: the page {title} has no control {control}.",
                    place=place,
                    title=Message(page.title),
                    control=brief(name),
                )
            )
    pointed = place_of(step.point, page)
    if step.point and pointed is None:
        raise LessonError(
            Message(
                "{place}: there is no control {control} to point at.",
                place=place,
                control=brief(step.point),
            )
        )
    if step.wait == "move" and not (pointed and pointed.watches):
        raise LessonError(
            Message(
                "{place}: {control} is no control that can be moved.",
                place=place,
                control=brief(step.point),
            )
        )
    if step.to is not None and pointed is not None:
        moved = control_at(pointed.watches, page)
        reached = moved[1].of_address(step.to.word) if moved is not None else None
        if moved is not None and reached is None:
            raise LessonError(
                Message(
                    "{place}: {control} can't be {word}.",
                    place=place,
                    control=moved[1].name,
                    word=brief(step.to.word),
                )
            )
        if step.to.relation != "is" and not isinstance(reached, int | float):
            raise LessonError(
                Message(
                    "{place}: {control} is no number, so to has no bound.",
                    place=place,
                    control=brief(step.point),
                )
            )
