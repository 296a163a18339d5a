"""Lessons in a browser: each played to its end, a reload, leaving, keyboard, a stranger's file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.lessons.types import Lesson
from pages.ui.course.lessons import lesson_of, own_lessons
from tests.browser.course.lesson_panel import LessonPanel

pytestmark = pytest.mark.browser
SIZES = {1280: 720, 400: 800}


def size(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": SIZES[width]})


def first() -> Lesson:
    lesson = lesson_of("one-token")
    assert lesson is not None
    return lesson


# `make test` plays every fifth lesson at one width, `make test-all` all at both.
PLAYED = [
    pytest.param(
        lesson,
        width,
        id=f"{lesson.name}-{width}",
        marks=() if place % 5 == 0 and place % len(SIZES) == at else pytest.mark.slow,
    )
    for place, lesson in enumerate(own_lessons())
    for at, width in enumerate(SIZES)
]


@pytest.mark.parametrize(("lesson", "width"), PLAYED)
def test_a_lesson_is_played_to_its_end(page: Page, server: str, lesson: Lesson, width: int) -> None:
    size(page, width)
    panel = LessonPanel(page, server).open(lesson)
    panel.play(lesson)
    asked = len(list(lesson.questions))
    expect(panel.panel.locator(".score")).to_contain_text(f"of {asked} ({asked} question")
    panel.button("Finish").click()
    expect(panel.panel.locator(".place")).to_have_text("Lesson finished")
    expect(panel.panel.locator(".score")).to_contain_text(f"of {asked} ({asked} question")
    panel.button("All lessons").click()
    expect(page.get_by_role("heading", name="Course")).to_be_visible()
    expect(panel.panel).to_have_count(0)
    expect(page).not_to_have_url(re.compile("lesson="))
    assert page.troubles == []  # type: ignore[attr-defined]


def test_progress_and_score_survive_a_reload_and_the_lesson_can_be_left(
    page: Page, server: str
) -> None:
    size(page, 1280)
    lesson = first()
    panel = LessonPanel(page, server).open(lesson)
    panel.guess(1)
    panel.act(lesson.steps[0])
    expect(panel.panel.locator(".outcome")).to_have_text("Your guess was not what happened.")
    panel.button("Next").click()
    panel.button("Next").click()
    panel.expect_step(lesson, 2)
    page.reload()
    panel.expect_step(lesson, 2)
    expect(panel.panel.locator(".score")).to_contain_text("0 of 1")
    panel.button("Leave").click()
    expect(panel.panel).to_have_count(0)
    page.goto(f"{server}/course")
    row = page.locator(".st-key-lesson-row-one-token")
    expect(row).to_contain_text("step 3 of 5 · 0 of 1 guesses right")
    row.get_by_role("button", name="Continue").click()
    panel.expect_step(lesson, 2)
    # A press that opens a lesson takes the keyboard to it.
    expect(panel.panel.locator(".title")).to_be_focused()


def test_a_lesson_is_read_and_answered_by_keyboard(page: Page, server: str) -> None:
    size(page, 1280)
    panel = LessonPanel(page, server).open(first())
    region = page.get_by_role("complementary", name="Lesson: One token at a time")
    expect(
        region.get_by_role("group", name="Which word do you think it writes next?")
    ).to_be_visible()
    region.get_by_role("radio", name="girl").focus()
    page.keyboard.press("ArrowDown")
    expect(region.get_by_role("radio", name="boy")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(region.get_by_role("radio", name="boy")).to_be_disabled()
    panel.button("Go to it").press("Enter")
    expect(page.locator(".st-key-start button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(region.get_by_role("status")).to_contain_text("It wrote")
    # The page that the learner strays to leads back.
    page.get_by_role("link", name="Beam search", exact=True).click()
    panel.button("Go there").click()
    expect(page.locator(".st-key-strip")).to_be_visible()
    expect(region.get_by_role("status")).to_contain_text("It wrote")


def test_the_sheet_on_a_phone_is_folded_and_unfolded(page: Page, server: str) -> None:
    size(page, 400)
    panel = LessonPanel(page, server).open(first())
    high = panel.panel.bounding_box()
    assert high is not None and high["y"] > 400
    panel.button("Fold").click()
    expect(panel.panel.locator(".say")).to_be_hidden()
    low = panel.panel.bounding_box()
    assert low is not None and low["height"] < 90
    panel.button("Unfold").click()
    expect(panel.panel.locator(".say")).to_be_visible()


def test_a_stranger_s_lesson_is_text_and_runs_nothing(
    page: Page, server: str, tmp_path: Path
) -> None:
    size(page, 1280)
    file = tmp_path / "own.yaml"
    evil = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/leak.png)"
    file.write_text(
        f"title: '{evil}'\nminutes: 5\nsummary: '{evil}'\nsteps:\n"
        f"  - {{page: decode, say: '{evil}', ask: {{question: '{evil}', fact: tokens, choices: "
        f"[{{words: '{evil}', is: 1}}, {{words: b, least: 2}}]}}, do: '{evil}', point: run, "
        f"wait: run, reveal: '{evil}'}}\n"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/course")
    page.get_by_text("Open a lesson of your own").click()
    page.locator(".st-key-lesson_file input[type=file]").set_input_files(file)
    panel = LessonPanel(page, server)
    expect(panel.panel.locator(".say")).to_have_text(evil)
    assert panel.panel.locator("img").count() == 0
    page.goto(f"{server}/course")
    expect(page.get_by_role("heading", name="Course")).to_be_visible()
    assert not [url for url in asked if "leak" in url]
    assert page.troubles == []  # type: ignore[attr-defined]
