"""The course's lessons as static pages: what to do, the questions, their answers on a press."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from core.decoding.counting import nth
from core.export.web.page import static_page
from core.language import tr, trn
from core.lessons.course import own_lessons
from core.lessons.transcript import SpokenStep, spoken
from core.lessons.types import Lesson, LessonStep
from pages.ui.registry import page_at


def file_of(lesson: Lesson) -> str:
    """Return the name of a lesson's file."""
    return f"lesson-{lesson.name}.html"


def lesson_page(lesson: Lesson, home: str, style: str, saved: Collection[str]) -> bytes:
    """Return a lesson's page.

    Args:
        home: HTML of the link to the index.
        saved: names of the pages that the site has.
    """
    steps = "".join(
        _step(at, step, said, saved)
        for at, (step, said) in enumerate(zip(lesson.steps, spoken(lesson), strict=True))
    )
    body = (
        f'<body class="gallery"><main class="lesson">{home}<h1>{escape(tr(lesson.title))}</h1>'
        f"<p>{escape(tr(lesson.summary))}</p>{steps}</main>"
    )
    return static_page(tr(lesson.title), body, style)


def lessons_list() -> str:
    """Return HTML with a link and a sentence for each lesson."""
    rows = "".join(
        f'<li><a href="{file_of(lesson)}"><h3>{escape(tr(lesson.title))}</h3></a>'
        f"<p>{escape(tr(lesson.summary))} {escape(_minutes(lesson))}</p></li>"
        for lesson in own_lessons()
    )
    return f'<h2 id="lessons">{escape(tr("Lessons"))}</h2><ol class="lessons">{rows}</ol>'


def _minutes(lesson: Lesson) -> str:
    return trn("About {count} minute.", "About {count} minutes.", lesson.minutes)


def _step(at: int, step: LessonStep, said: SpokenStep, saved: Collection[str]) -> str:
    page = page_at(step.page) if step.page else None
    link = ""
    if page is not None and page.name in saved:
        words = tr("A saved run of {page}", page=tr(page.title))
        link = f'<p><a href="{page.name}.html">{escape(words)}</a></p>'
    ask, right = "", ""
    if step.ask is not None:
        choices = "".join(f"<li>{escape(tr(choice.words))}</li>" for choice in step.ask.choices)
        ask = f"<p><strong>{escape(said.question)}</strong></p><ul>{choices}</ul>"
        if said.right is not None:
            right = f"<p><strong>{escape(tr(step.ask.choices[said.right].words))}</strong></p>"
    told = f"<p>{escape(said.reveal)}</p>" if said.reveal else ""
    summary = escape(tr("Answer") if step.ask else tr("What happens"))
    answer = f"<details><summary>{summary}</summary>{right}{told}</details>" if right + told else ""
    do = f"<p>{escape(tr('In the app: {act}', act=said.do))}</p>" if said.do else ""
    head = escape(tr("Step {number}", number=nth(at)))
    return f"<h2>{head}</h2><p>{escape(said.say)}</p>{link}{ask}{do}{answer}"
