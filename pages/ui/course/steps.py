"""Begin a lesson's steps on the pages, and notice what the learner does there."""

from __future__ import annotations

from collections.abc import Mapping

from core.lessons.finding import PageFacts
from core.lessons.sentences import is_known, right_choice, settings_of, values
from core.lessons.types import FactValue, Lesson, LessonStep
from pages.ui import platform
from pages.ui.course.lessons import page_of
from pages.ui.course.places import place_of, word_of
from pages.ui.course.state import Course, LessonProgress, Mark
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
    if own is not None and own.at == len(lesson.steps) - 1:
        course.progress[lesson.name] = LessonProgress(finished=True)
    course.lesson = lesson
    enter(course, lesson.begins(course.own.at))


def enter(course: Course, at: int) -> None:
    """Show a step that begins on a page; the next run turns to it by `begin_page`."""
    course.show(at)
    course.begun, course.reached, course.begins_page = course.at, set(), True


def begin_page(course: Course) -> None:
    """Begin the page of a step that was entered, before anything is drawn: a control that a
    callback sets would stay as the address has it."""
    if course.lesson is None or not course.begins_page:
        return
    course.begins_page = False
    page = page_of(course.lesson, course.at)
    _prepare(page, settings_of(course.step, course.own.carried))
    _open_tab(page, course.step)
    save.go_to(page.path)


def go_on(course: Course) -> None:
    """Show the next step; after the last one the lesson ends."""
    assert course.lesson is not None
    if course.at == len(course.lesson.steps) - 1:
        leave(course)
    elif course.lesson.steps[course.at + 1].page:
        shown, _ = showing(page_of(course.lesson, course.at), course.step)
        course.own.carried = values(course.lesson.steps[course.at + 1], shown)
        enter(course, course.at + 1)
    else:
        course.show(course.at + 1)
        _open_tab(page_of(course.lesson, course.at), course.step)


def go_back(course: Course) -> None:
    """Show the step before; from the first step on a page, the first one of the page before."""
    assert course.lesson is not None
    if course.at > course.begun:
        course.show(course.at - 1)
    elif course.at > 0:
        enter(course, course.lesson.begins(course.at - 1))


def leave(course: Course) -> None:
    """Close the lesson; its progress stays."""
    course.lesson = None


def _prepare(page: Page, words: Mapping[str, str]) -> None:
    """Set all controls of a page to their defaults, then to these words, and show no run."""
    page.load_controls.find()  # Declares the page's controls.
    for place in shared.slots(page.slots):
        with slot.use(place):
            control.load(_defaults(page))
            others = link.fill(words)
            words = {name: words[name] for name in others}
            view = page.view()
            if isinstance(view, PageView):
                view.clear()


def _defaults(page: Page) -> dict[str, object]:
    """Defaults of what a page's runs depend on: its own controls, the sidebar's and the knobs."""
    room = page.load_controls.name.partition(".")[0]
    held = control.defaults(f"pages.ui.{room}.") | control.defaults("pages.ui.widgets.")
    if page.run_controls is not None:
        held |= {row.key: row.default for row in page.run_controls.find().rows}
    held |= {row.key: row.default for row in shared.ROWS}
    return {key: value for key, value in held.items() if not key.startswith("figure_")}


def _open_tab(page: Page, step: LessonStep) -> None:
    place = place_of(step.point, page)
    if place is not None and place.tab:
        panel.open_tab(place.tabs, place.tab)


def showing(page: Page, step: LessonStep) -> tuple[PageFacts, Mark]:
    """Return what a page shows, and the mark by which a change is noticed."""
    views = []
    for each in shared.slots(page.slots):
        with slot.use(each):
            views.append(page.view())
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
        id(lab),
        word_of(place.watches, page) if place else "",
    )
    return shown, mark


@platform.critical()
def look(course: Course) -> dict[str, FactValue]:
    """Notice what the learner has done on the step's page; return the values of its facts."""
    assert course.lesson is not None
    step = course.step
    shown, mark = showing(page_of(course.lesson, course.at), step)
    now = values(step, shown)
    if course.at in course.reached:
        return now
    if course.asks or course.start is None or mark == course.start:
        course.start, course.before = mark, course.own.carried | now
    done = not course.asks and _has_happened(step, course.start, mark)
    if done and is_known(step, now, course.before):
        course.reached.add(course.at)
        if step.ask is not None:
            course.judge(right_choice(step.ask, now, course.before))
    return now


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
