"""The panel of the open lesson beside a page: it says one thing, asks, waits, and reveals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.decoding.counting import counted, sentences
from core.decoding.counting import place_of as place_among
from core.language import tr
from core.lessons.facts import FACTS
from core.lessons.sentences import fact_of, filled, right_choice
from core.lessons.types import FactValue
from pages.ui import platform, registry
from pages.ui.course import steps
from pages.ui.course.lessons import lesson_of, page_of
from pages.ui.course.places import control_at, place_of, word_of
from pages.ui.course.state import Course
from pages.ui.platform import session
from pages.ui.registry import Page
from pages.ui.run.address import LESSON
from pages.ui.run.files import save
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls import link
from pages.ui.widgets.render_clock import drawn_at

# While a step waits for the page, and otherwise, when only its numbers may change; longer where a
# class is connected.
_WAITING_SECONDS, _SHOWN_SECONDS = 0.6, 2.0
_FEW_SESSIONS = 20
# A longer value of a setting is not quoted.
_LONGEST = 24
_KEY, _MEMORY = "lesson", "lesson-memory"
_component = component(
    "lesson",
    html='<div class="lesson"></div>',
    css=source("course/panel.css"),
    js=source("course/point.js", "course/panel.js"),
)
_memory = component("lesson_memory", js=source("course/memory.js"))


def begin() -> None:
    """Open the lesson that the address names, once a session, and begin the page of a new step;
    before anything is drawn."""
    course = Course.current()
    if not course.looked:
        course.looked = True
        _follow_link(course, st.query_params.get(LESSON))
    steps.begin_page(course)


def _follow_link(course: Course, name: str | None) -> None:
    lesson = None if name is None else lesson_of(name)
    if lesson is not None:
        steps.begin(course, lesson)
    elif name is not None:
        link.report(
            tr("There is no lesson {name}: the page Course lists them all.", name=link.quoted(name))
        )


def write_address() -> None:
    """Name the open lesson in the address; a lesson from a file has no link."""
    lesson = Course.current().lesson
    session.write_address(LESSON, lesson.name if lesson and lesson_of(lesson.name) else None)


def _remember() -> None:
    """Let the browser keep the progress, and take over what it has kept."""
    course = Course.current()
    with st.container(key="lesson-memory-side"):
        _memory(
            key=_MEMORY,
            data={
                "progress": course.plain(),
                "read": not course.restored,
                "open": course.lesson is not None,
            },
            on_kept_change=_take,
        )


def _take() -> None:
    course = Course.current()
    if course.restored:
        return
    untouched = course.lesson is None or (course.turn == 1 and not course.own.answers)
    if course.lesson is not None and untouched:
        course.progress.pop(course.lesson.name)
    kept = (st.session_state.get(_MEMORY) or {}).get("kept")
    course.take(kept.get("lessons") if isinstance(kept, Mapping) else None)
    if course.lesson is not None and untouched:
        steps.resume(course, course.lesson)
    st.rerun()


def side() -> st.delta_generator.DeltaGenerator:
    """Return the container of the panel, which stands before the page for the keyboard."""
    return st.container(key="lesson-side")


def draw(page: Page, place: st.delta_generator.DeltaGenerator) -> None:
    """Draw the panel in its place while a lesson is open."""
    if Course.current().lesson is not None:
        with place:
            platform.poll(_draw, _seconds)(page)
    elif page is registry.COURSE:
        _remember()


def _seconds() -> float:
    course = Course.current()
    waits = course.lesson is not None and not course.reached and not course.asks
    seconds = _WAITING_SECONDS if waits else _SHOWN_SECONDS
    return seconds * max(1.0, session.connected() / _FEW_SESSIONS)


def _draw(page: Page) -> None:
    course = Course.current()
    if course.lesson is None:
        return
    here = page_of(course.lesson, course.at)
    now = steps.look(course) if here is page and not course.ended else {}
    if course.sets_again:
        st.rerun()
    _component(
        key=_KEY,
        data={
            **(_ended(course) if course.ended else _described(course, now)),
            "elsewhere": "" if here is page or course.ended else tr(here.title),
            "target": _target(course, here) if here is page and not course.ended else "",
            "different": _different(course, here) if here is page and not course.ended else "",
            "ready": course.restored,
            "drawn": drawn_at(),
        },
        on_pressed_change=_pressed,
    )
    _remember()


def _described(course: Course, now: dict[str, FactValue]) -> dict[str, Any]:
    """The panel's words; plain text."""
    lesson, step, given = course.lesson, course.step, course.own.answers.get(course.at)
    assert lesson is not None
    reached, asked = course.reached is not None, len(list(lesson.questions))
    is_over = reached or bool(course.missing)
    now, before = course.reached or (now, course.before)
    then = before or now
    right = right_choice(step.ask, now, before) if reached and step.ask else None
    return {
        "turn": course.turn,
        "title": tr(lesson.title),
        "place": tr(place_among("Step", course.at, len(lesson.steps))),
        "share": (course.at + reached) / len(lesson.steps),
        "say": filled(tr(step.say), then, then),
        "question": filled(tr(step.ask.words), then, then) if step.ask else "",
        "choices": [tr(choice.words) for choice in step.ask.choices] if step.ask else [],
        "chosen": given.choice if given else -1,
        "right": -1 if right is None else right,
        "outcome": _outcome(course, right) if reached else "",
        "do": "" if course.asks or is_over else filled(tr(step.do), then, then),
        "waits": not (course.asks or is_over),
        "runs": step.wait == "run",
        "reveal": filled(tr(step.reveal), now, before) if reached else _without(course),
        "lacks": bool(course.missing),
        "score": _score(course, asked),
        "back": tr("Back"),
        "goes_back": course.at > 0,
        "next": _next_words(course, is_over),
        "asks": course.asks,
        "skips": not is_over,
    }


def _ended(course: Course) -> dict[str, Any]:
    """The panel's words after the last step."""
    lesson = course.lesson
    assert lesson is not None
    following = steps.next_lesson(lesson)
    words = tr("The next lesson is “{title}”.", title=tr(following.title)) if following else ""
    empty = ("question", "outcome", "do", "reveal")
    return {
        **dict.fromkeys(empty, ""),
        "turn": course.turn,
        "title": tr(lesson.title),
        "place": tr("Lesson finished"),
        "share": 1,
        "say": words,
        "choices": [],
        "chosen": -1,
        "right": -1,
        "waits": False,
        "runs": False,
        "score": _score(course, len(list(lesson.questions))),
        "back": tr("All lessons"),
        "goes_back": True,
        "next": tr("Next lesson") if following else "",
        "asks": False,
        "skips": False,
    }


def _different(course: Course, page: Page) -> str:
    """Return the sentence on the settings that the step doesn't have."""
    said = []
    for name in course.different:
        found, needed = control_at(name, page), course.settings[name]
        if found is not None:
            label, word = found[1].name, word_of(name, page)
            longest = max(len(word), len(needed))
            here = tr(
                "{control}: {shown} here, {needed} in this step.",
                control=label,
                shown=word or tr("empty"),
                needed=needed or tr("empty"),
            )
            changed = tr("{control}: changed.", control=label)
            said.append(changed if longest > _LONGEST else here)
    return tr(sentences(*said))


def _without(course: Course) -> str:
    """Return the sentence on the fact that the page doesn't show; empty if none is missing."""
    name, lesson = course.missing, course.lesson
    if not name or lesson is None:
        return ""
    meaning, title = FACTS[str(fact_of(name))].meaning, page_of(lesson, course.at).title
    return tr(
        "The page {title} doesn't show {meaning} ({name}), which this step needs: go on.",
        title=tr(title),
        meaning=tr(meaning),
        name=name,
    )


def _outcome(course: Course, right: int | None) -> str:
    given = course.own.answers.get(course.at)
    if course.step.ask is None or given is None:
        return ""
    if right is None:
        return tr("None of the answers fits what happened.")
    return tr("Your guess was right.") if given.right else tr("Your guess was not what happened.")


def _score(course: Course, asked: int) -> str:
    right, judged = course.own.score
    questions = counted(asked, "question")
    return (
        tr(
            "Right guesses: {right} of {judged} ({questions} in all)",
            right=right,
            judged=judged,
            questions=questions,
        )
        if judged
        else ""
    )


def _next_words(course: Course, is_over: bool) -> str:
    assert course.lesson is not None
    last = course.at == len(course.lesson.steps) - 1
    return (tr("Finish") if last else tr("Next")) if is_over else tr("Skip")


def _target(course: Course, page: Page) -> str:
    """Key of the highlighted place; empty while a question comes first, and after the wait."""
    place, step = place_of(course.step.point, page), course.step
    points = not course.asks and not (step.wait and (course.reached or course.missing))
    return place.key if place is not None and points else ""


def _pressed() -> None:
    """Do what a button of the panel says; the page is drawn again only if that changes it."""
    pressed = (st.session_state.get(_KEY) or {}).get("pressed")
    course = Course.current()
    lesson = course.lesson
    if not isinstance(pressed, dict) or lesson is None:
        return
    if pressed.get("turn") != course.turn:
        return  # A second press of a step that is gone.
    kind, choice = pressed.get("kind"), pressed.get("choice")
    if kind == "answer" and isinstance(choice, int):
        course.answer(choice)
    elif kind == "next":
        steps.go_on(course)
    elif kind == "back":
        steps.go_back(course)
    elif kind == "leave":
        steps.leave(course)
    elif kind == "return":
        save.go_to(page_of(lesson, course.at).path)
    elif kind == "reset":
        course.sets_again = True
    if kind in ("return", "reset") or course.lesson is not lesson or steps.changes_page(course):
        st.rerun()
