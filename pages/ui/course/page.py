"""The list of lessons with the learner's progress and score, and lessons from files."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.decoding.counting import nth
from core.decoding.errors import DecodingError
from core.language import tr, trn
from core.lessons.course import named_by_content
from core.lessons.read import read_lesson
from core.lessons.types import Lesson
from pages.ui import platform
from pages.ui.course import steps, worksheet
from pages.ui.course.lessons import OWN, checked, own_lessons
from pages.ui.course.state import Course, GuessScore, LessonProgress
from pages.ui.platform.uploaded import content_of
from pages.ui.run.display import panel
from pages.ui.widgets.controls.control import in_words

_FILE, _TAKEN = "lesson_file", "lesson_file_taken"


def load_controls(_: Any) -> None:
    """A file of another page sets nothing here."""


def draw() -> None:
    """Draw the way on, the lessons, and the upload of a lesson."""
    course, lessons = Course.current(), own_lessons()
    _way_on(course, lessons)
    if course.opened is not None:
        _row(course, course.opened, tr("Your file"))
    with st.container(key="lessons"):
        for at, lesson in enumerate(lessons):
            _row(course, lesson, tr("Lesson {at}", at=nth(at)))
    worksheet.draw([*([course.opened] if course.opened else []), *lessons])
    _own_file(course)


def _way_on(course: Course, lessons: tuple[Lesson, ...]) -> None:
    """Draw the button that goes on with the course, and the score."""
    began = [lesson for lesson in lessons if _unfinished(course.progress.get(lesson.name))]
    rest = [lesson for lesson in lessons if not _is_finished(course.progress.get(lesson.name))]
    lesson = next(iter([*began, *rest]), lessons[0])
    words = tr("Continue") if began or len(rest) < len(lessons) else tr("Begin the course")
    with st.container(key="course-way", horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            f"{words}: {tr(lesson.title)}",
            key="course_go_on",
            type="primary",
            icon=":material/play_arrow:",
            on_click=partial(_open, lesson),
        )
        scores = [own.counted for own in course.progress.values()]
        right, judged = (sum(numbers) for numbers in zip(GuessScore(), *scores, strict=True))
        if judged:
            words = tr(
                "Right guesses so far: {right} of {judged}. Only you see this; it stays in this "
                "browser.",
                right=right,
                judged=judged,
            )
            st.text(words, width="stretch")


def _unfinished(own: LessonProgress | None) -> bool:
    return own is not None and not own.finished and bool(own.at or own.answers)


def _is_finished(own: LessonProgress | None) -> bool:
    return own is not None and own.finished


def _row(course: Course, lesson: Lesson, label: str) -> None:
    own = course.progress.get(lesson.name)
    with st.container(key=f"lesson-row-{lesson.name}", horizontal=True, gap="medium",
                      vertical_alignment="center", border=True):  # fmt: skip
        with st.container(key=f"lesson-words-{lesson.name}", gap=None):
            st.text(" · ".join((label, _minutes(lesson), *_state(lesson, own))))
            with st.container(key=f"lesson-title-{lesson.name}"):
                st.text(tr(lesson.title))
            st.text(tr(lesson.summary))
        st.button(
            _verb(lesson, own),
            key=f"lesson_open_{lesson.name}",
            on_click=partial(_open, lesson),
        )


def _verb(lesson: Lesson, own: LessonProgress | None) -> str:
    if own is not None and (own.at or own.answers) and not steps.is_over(lesson, own):
        return tr("Continue")
    return tr("Again") if _is_finished(own) else tr("Begin")


def _minutes(lesson: Lesson) -> str:
    return trn("about {count} minute", "about {count} minutes", lesson.minutes)


def _state(lesson: Lesson, own: LessonProgress | None) -> tuple[str, ...]:
    """Progress and score in a lesson, after its length."""
    if own is None or not (_unfinished(own) or own.finished):
        return ()
    way = (
        tr("done")
        if own.finished
        else tr("step {at} of {steps}", at=nth(own.at), steps=len(lesson.steps))
    )
    right, judged = own.counted
    guesses = tr("{right} of {judged} guesses right", right=right, judged=judged)
    return (way, guesses) if judged else (way,)


def _open(lesson: Lesson) -> None:
    steps.begin(Course.current(), lesson)
    st.rerun()


def _own_file(course: Course) -> None:
    """Draw the upload of a lesson's file, with what is wrong with it."""
    with st.expander(
        tr("Open a lesson of your own"),
        icon=":material/folder_open:",
        expanded=bool(course.failure),
    ):
        st.markdown(
            tr(
                "A lesson is a YAML file with the sentences, the questions and the "
                "controls to move; docs/lessons.md describes it with an example."
            )
        )
        st.file_uploader(tr("Lesson file"), type=["yaml", "yml"], key=_FILE, on_change=_opened)
        panel.failure(course.failure)


@platform.critical()
def _opened() -> None:
    upload, course = st.session_state.get(_FILE), Course.current()
    # While the page changes, Streamlit may report one upload twice.
    if upload is None or upload.file_id == st.session_state.get(_TAKEN):
        return
    st.session_state[_TAKEN] = upload.file_id
    course.failure = ""
    try:
        lesson = checked(named_by_content(read_lesson(content_of(upload), OWN)))
    except DecodingError as error:
        course.failure = in_words(error)
        return
    course.opened = lesson
    course.progress.pop(lesson.name, None)
    steps.begin(course, lesson)
