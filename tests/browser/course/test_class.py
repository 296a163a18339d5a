"""A class in a browser: a pupil's guess in a lesson reaches the teacher's chart, and reloads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.ui.course.lessons import lesson_of
from tests.browser.app_page import AppPage
from tests.browser.course.lesson_panel import LessonPanel

pytestmark = pytest.mark.browser


class ClassPage(AppPage):
    """The teacher's page."""

    PATH, HEADING, FIRST = "class", "Class", "class-guesses"

    @property
    def code(self) -> str:
        return self.page.locator(".de-code").inner_text()

    @property
    def link(self) -> str:
        return "".join(self.page.locator(".st-key-class-invitation code").inner_text().split())

    def expect_shares(self, *shares: float) -> None:
        """Wait until the chart has bars of these shares."""
        self.page.wait_for_function(
            "shares => JSON.stringify(Array.from(document.querySelector("
            "'.st-key-figure-class-guesses .js-plotly-plot')?.data?.[0]?.x ?? [])) === shares",
            arg="[" + ",".join(f"{share:g}" for share in shares) + "]",
        )

    def notes(self) -> list[str]:
        layout = self.figure_data("class-guesses")["layout"]
        return [note["text"] for note in layout["annotations"]]

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name).click()


def test_a_guess_in_a_lesson_is_drawn_on_the_teacher_s_page(page: Page, server: str) -> None:
    lesson = lesson_of("one-token")
    assert lesson is not None and lesson.steps[0].ask is not None
    other = page.context.new_page()
    teacher = ClassPage(page, server).open()
    teacher.press("Open a class")
    code = teacher.code
    assert re.fullmatch(rf"{server}/course\?class={code}", teacher.link)
    # No phone can open a link to localhost.
    expect(page.get_by_text("Your pupils' devices can't open this link")).to_be_visible()
    expect(page.get_by_role("img", name="QR code")).to_have_count(0)

    other.goto(teacher.link)
    line = other.locator(".st-key-class-line")
    expect(line).to_contain_text(f"You are in class {code}")
    expect(page.get_by_text("1 pupil in the class")).to_be_visible()
    other.locator(f".st-key-lesson_open_{lesson.name} button").click()
    panel = LessonPanel(other, server)
    panel.expect_step(lesson, 0)
    # The line follows the pupil to the page of the lesson.
    expect(line).to_contain_text(f"You are in class {code}")
    panel.guess(1)
    teacher.expect_shares(0, 1, 0, 0)
    expect(page.locator(".st-key-class-question")).to_contain_text(lesson.steps[0].ask.words)

    teacher.press("Show the answer")
    expect(page.get_by_text("No pupil's page has shown the answer yet.")).to_be_visible()
    panel.act(lesson.steps[0])
    expect(panel.button("Next")).to_be_visible()
    page.wait_for_function(
        "() => document.querySelector('.st-key-figure-class-guesses .js-plotly-plot')"
        ".layout.annotations.some(({ text }) => text.includes('✓</b>'))"
    )
    [marked] = [text for text in teacher.notes() if "✓</b>" in text]
    assert marked.removeprefix("<b>").split("\u00a0")[0] in [
        choice.words for choice in lesson.steps[0].ask.choices
    ]

    page.reload()
    expect(page.locator(".de-code")).to_have_text(code)
    teacher.expect_shares(0, 1, 0, 0)
    assert not any("✓" in text for text in teacher.notes())
    other.reload()
    expect(line).to_contain_text(f"You are in class {code}")
    expect(page.get_by_text("1 pupil in the class")).to_be_visible()
    # A page that is opened without the link belongs to the class, until it is left.
    other.goto(f"{server}/beam")
    expect(line).to_contain_text(f"You are in class {code}")
    expect(other).to_have_url(re.compile(f"class={code}"))
    other.get_by_role("button", name="Leave", exact=True).first.click()
    expect(line).to_be_hidden()
    expect(page.get_by_text("0 pupils in the class")).to_be_visible()
    other.wait_for_function("() => localStorage.getItem('decoding-explorer-pupil') === null")

    other.goto(teacher.link)
    expect(line).to_contain_text(f"You are in class {code}")
    teacher.press("End the class")
    teacher.press("End it now")
    expect(page.get_by_role("button", name="Open a class")).to_be_visible()
    # A pupil who does nothing reads it, too.
    expect(line).to_contain_text("The class has ended.")
    assert page.troubles == []  # type: ignore[attr-defined]
