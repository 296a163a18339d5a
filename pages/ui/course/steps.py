"""Begin a lesson's steps on the pages, and notice what the learner does there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.lessons.finding import PageFacts
from core.lessons.sentences import first_missing, right_choice, settings_of, values
from core.lessons.types import FactValue, Lesson, LessonStep
from pages.ui import platform, registry
from pages.ui.course.lessons import own_lessons, page_of
from pages.ui.course.places import PLACES, place_of, word_of
from pages.ui.course.state import Course, LessonProgress, Mark, Reached
from pages.ui.platform import slot
from pages.ui.registry import Page
from pages.ui.run import shared
from pages.ui.run.display import panel
from pages.ui.run.files import save
from pages.ui.run.view import PageView, View
from pages.ui.widgets.controls import control, link


def begin(course: Course, lesson: Lesson) -> None:
    """Open a lesson, in a callback or before the page is drawn: where the learner left it, or from
    its first step if the learner has finished it."""
    own = course.progress.get(lesson.name)
    if own is not None and is_over(lesson, own):
        course.progress[lesson.name] = LessonProgress(finished=True, best=own.best)
    resume(course, lesson)


def is_over(lesson: Lesson, own: LessonProgress) -> bool:
    """Return whether the learner has finished the lesson and not begun it again."""
    return own.finished and own.at == len(lesson.steps) - 1


def resume(course: Course, lesson: Lesson) -> None:
    """Open a lesson at the step where the learner was, or at the first one of that page if a step
    between them was skipped."""
    course.lesson = lesson
    begun, at = lesson.begins(course.at), course.at
    enter(course, at if all(each in course.own.reached for each in range(begun, at)) else begun)


def enter(course: Course, at: int) -> None:
    """Show a step; the next run turns to its page by `begin_page`."""
    assert course.lesson is not None
    course.show(at)
    course.begun, course.begins_page = course.lesson.begins(course.at), True
    course.settings, course.sets_again = {}, False


def begin_page(course: Course) -> None:
    """Begin the page of a step that was entered, before anything is drawn: a control that a
    callback sets would stay as the address has it."""
    if course.lesson is None:
        return
    page = page_of(course.lesson, course.at)
    if course.sets_again:
        course.sets_again = False
        _fill(page, {name: course.settings[name] for name in course.different})
        if course.runs_again:
            _run(page)
    if not course.begins_page:
        return
    course.begins_page = False
    lesson, reached = course.lesson, course.own.reached
    done = [lesson.steps[at] for at in range(course.begun, course.at + 1) if at in reached]
    words = settings_of(lesson.steps[course.begun], course.own.carried)
    page.load_controls.find()  # Declares the page's controls.
    course.former = _run_words(page)
    _prepare(page, words | {step.point: step.to.word for step in done if step.to is not None})
    course.resumes = any(step.wait == "run" for step in done)
    if course.resumes:
        _run(page)
    _open_tab(page, course.step)
    save.go_to(page.path)


def changes_page(course: Course) -> bool:
    """Return whether the step that was entered begins a page, or opens a tab on it."""
    assert course.lesson is not None
    place = place_of(course.step.point, page_of(course.lesson, course.at))
    return course.begins_page or (place is not None and bool(place.tab))


def go_on(course: Course) -> None:
    """Show the next step; after the last one the score, and then the next lesson."""
    assert course.lesson is not None
    if course.ended:
        following = next_lesson(course.lesson)
        if following is not None:
            begin(course, following)
    elif course.at == len(course.lesson.steps) - 1:
        course.own.finish()
        course.ended = True
        course.turn += 1
    elif course.lesson.steps[course.at + 1].page:
        shown, _ = showing(page_of(course.lesson, course.at), course.step)
        # A page that a step back has emptied shows no facts.
        carried = values(course.lesson.steps[course.at + 1], shown)
        course.own.carried = carried or course.own.carried
        enter(course, course.at + 1)
    else:
        course.show(course.at + 1)
        _open_tab(page_of(course.lesson, course.at), course.step)


def go_back(course: Course) -> None:
    """Show the step before; from the first step on a page, the first one of the page before; from
    the score, all lessons."""
    assert course.lesson is not None
    if course.ended:
        leave(course)
        save.go_to(registry.COURSE.path)
    elif course.at > course.begun:
        course.show(course.at - 1)
    elif course.at > 0:
        enter(course, course.lesson.begins(course.at - 1))


def leave(course: Course) -> None:
    """Close the lesson; its progress stays."""
    course.lesson = None


def next_lesson(lesson: Lesson) -> Lesson | None:
    """Return the course's lesson after this one; None after the last one and a file's."""
    lessons = own_lessons()
    at = next((at for at, each in enumerate(lessons) if each.name == lesson.name), len(lessons))
    return lessons[at + 1] if at + 1 < len(lessons) else None


def _run(page: Page) -> None:
    """Let the page make its runs when it is drawn."""
    for place in shared.slots(page.slots):
        with slot.use(place):
            st.session_state[platform.key(shared.RUN_EXAMPLE)] = True


def _fill(page: Page, words: Mapping[str, str]) -> None:
    for place in shared.slots(page.slots):
        with slot.use(place):
            others = link.fill(words)
            words = {name: words[name] for name in others}


def _prepare(page: Page, words: Mapping[str, str]) -> None:
    """Set all controls of a page to their defaults, then to these words, and show no run."""
    for place in shared.slots(page.slots):
        with slot.use(place):
            control.load(_defaults(page))
            view = page.view()
            if isinstance(view, PageView):
                view.clear()
    _fill(page, words)


def _defaults(page: Page) -> dict[str, object]:
    """Defaults of what a page's runs depend on: its own controls, the sidebar's and the knobs."""
    held = control.defaults(page.package) | control.defaults("pages.ui.widgets.")
    if page.run_controls is not None:
        held |= {row.key: row.default for row in page.run_controls.find().rows}
    held |= {row.key: row.default for row in shared.ROWS}
    return {key: value for key, value in held.items() if not key.startswith("figure_")}


def _open_tab(page: Page, step: LessonStep) -> None:
    place = place_of(step.point, page)
    if place is not None and place.tab:
        panel.open_tab(place.tabs, place.tab)


def _views(page: Page) -> list[Any]:
    """Return a page's views, one for each of its runs."""
    views = []
    for each in shared.slots(page.slots):
        with slot.use(each):
            views.append(page.view())
    return views


def showing(page: Page, step: LessonStep) -> tuple[PageFacts, Mark]:
    """Return what a page shows, and the mark by which a change is noticed."""
    views = _views(page)
    runs = [view for view in views if isinstance(view, View)]
    lab = None if runs else getattr(views[0], "shown", None)
    shown = PageFacts(
        tuple(view.trace for view in runs if view.trace is not None),
        runs[0].selected if runs else 0,
        getattr(lab, "trace", None),
    )
    place = place_of(step.point, page)
    mark = Mark(
        tuple((view.number, view.source == "run") for view in runs),
        shown.selected,
        0 if lab is None else id(lab),
        word_of(place.watches, page) if place else "",
    )
    return shown, mark


@platform.critical()
def look(course: Course) -> dict[str, FactValue]:
    """Notice what the learner has done on the step's page; return the values of its facts."""
    assert course.lesson is not None
    step, page = course.step, page_of(course.lesson, course.at)
    _compare(course, page)
    shown, mark = showing(page, step)
    course.resumes = course.resumes and len(shown.runs) < len(mark.runs)
    if course.reached:
        return course.reached.now
    now = values(step, shown)
    if course.asks or course.start is None or course.resumes or _waits(step, course.start, mark):
        course.start, course.before = mark, course.own.carried | now
    if course.different and step.wait == "run":
        begun = mark.runs != course.start.runs or any(view.under_way for view in _views(page))
        course.runs_again = course.sets_again and begun
        # Its end must not count once the settings are right again.
        course.start = course.start._replace(runs=mark.runs)
    ready = not (course.asks or course.resumes or course.different)
    happened = ready and _has_happened(step, course.start, mark)
    missing = first_missing(step, now, course.before) if happened else ""
    # Work that is under way may still show it.
    course.missing = "" if any(view.under_way for view in _views(page)) else missing
    if happened and not missing:
        course.own.reached[course.at] = Reached(now, course.before)
        if step.point != "run":
            course.settings = {}  # The step has changed them.
        if step.ask is not None:
            course.judge(right_choice(step.ask, now, course.before))
    return now


def _compare(course: Course, page: Page) -> None:
    """Store which run controls differ from those of the step that waits."""
    words, place = _run_words(page), place_of(course.step.point, page)
    course.settings = course.settings or words
    changes = place is not None and place.key == PLACES["pair_template"].key
    waits = course.step.wait in ("run", "move") and not (course.reached or changes)
    course.different = tuple(
        name
        for name, word in words.items()
        if waits and word != course.settings.get(name, word)
        if place is None or name != place.watches
    )
    # A slow browser may send the former values after the step has set its own.
    if course.different and all(
        words[name] == course.former.get(name) for name in course.different
    ):
        course.former, course.sets_again = {}, True


def _run_words(page: Page) -> dict[str, str]:
    """Return the values of a page's run controls as the address has them, by name."""
    if page.run_controls is None:
        return {}
    keys = ("model", "prompt", "chat", "system", "seed")
    rows = {row.key: row for row in (*map(control.row_of, keys), *page.run_controls.find().rows)}
    words: dict[str, str] = {}
    for place in shared.slots(page.slots):
        with slot.use(place):
            words |= {r.state_key: r.in_address(control.value(r.key)) for r in rows.values()}
    return words


def _waits(step: LessonStep, start: Mark, now: Mark) -> bool:
    """Return whether the learner hasn't acted yet; a step of the lab may be drawn late."""
    return now == start or (step.wait == "move" and now.word == start.word)


def _has_happened(step: LessonStep, start: Mark, now: Mark) -> bool:
    """Return whether the wait of a step is over."""
    if step.wait == "run":
        pairs = zip(start.runs, now.runs, strict=True)
        return all(new[0] != old[0] and new[1] for old, new in pairs)
    if step.wait == "select":
        return now.selected != start.selected
    if step.wait == "move":
        moved = now.word != start.word and (not now.step or now.step != start.step)
        return moved and (step.to is None or step.to.reached(now.word))
    return True
