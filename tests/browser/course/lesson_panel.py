"""Page object of a lesson's panel, which plays a lesson as a learner does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from playwright.sync_api import Locator, Page, expect

from core.lessons.types import Lesson, LessonStep
from pages.ui.course.places import PLACES

OWN_TEXT = "My grandmother grew enormous pumpkins. She sold none of them."


class LessonPanel:
    """Actions on the panel of a lesson, and its contents.

    What takes long is awaited by `wait_for`: a vain look of `expect` reads the whole page as a
    screen reader does, which costs the browser as much as a figure, and looks once a second only.
    """

    def __init__(self, page: Page, server: str) -> None:
        self.page, self.server = page, server
        self.panel = page.locator(".lesson")

    def open(self, lesson: Lesson) -> Self:
        # The page of its first step: another one would be drawn before it.
        self.page.goto(f"{self.server}/{lesson.steps[0].page}?lesson={lesson.name}")
        self.expect_text(".title", lesson.title)
        return self

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name, exact=True)

    def score(self) -> str:
        return self.panel.locator(".score").inner_text()

    def expect_step(self, lesson: Lesson, at: int) -> None:
        self.expect_text(".place", f"Step {at + 1} of {len(lesson.steps)}")

    def expect_text(self, part: str, text: str) -> None:
        """Wait until a part of the panel is visible and has the text."""
        self.panel.locator(part).filter(has_text=text).wait_for()

    def guess(self, choice: int) -> None:
        self.panel.get_by_role("radio").nth(choice).check()
        self.button("This is my guess").click()

    def marked(self, step: LessonStep) -> Locator:
        """The place that the step points at."""
        key = PLACES[step.point].key if step.point in PLACES else step.point
        return self.page.locator(f".st-key-{key}").first

    def expect_marked(self, step: LessonStep) -> None:
        """The place is outlined, and neither the window's edge nor the panel hides it."""
        place = self.marked(step)
        place.wait_for()
        expect(place).to_be_in_viewport()
        # The head of the place stands above a phone's sheet.
        self.page.wait_for_function(
            "place => place.getBoundingClientRect().top < innerHeight - (parseFloat("
            "document.documentElement.style.getPropertyValue('--de-sheet')) || 0)",
            arg=place.element_handle(),
        )

    def act(self, step: LessonStep) -> None:
        """Do what the step asks for."""
        if step.wait == "run":
            if step.point == "read_text":
                self.page.locator(".st-key-read_text textarea").fill(OWN_TEXT)
            self.run(step)
        elif step.wait == "select":
            tokens = self.page.locator(".st-key-strip .tokens button:not([aria-current=true])")
            tokens.first.click()
        elif step.point == "roll_again":
            self.page.get_by_role("button", name="Roll again").click()
        elif step.to is not None:
            self.move(step.point, step.to.word)

    def run(self, step: LessonStep) -> None:
        """Press the button that makes the run."""
        key = PLACES[step.point].key if step.point in PLACES else "start"
        self.page.locator(f".st-key-{key} button:visible").first.click()

    def move(self, key: str, word: str) -> None:
        """Set a control: press the option, or write the number."""
        option = self.page.locator(f".st-key-{key}").get_by_role("radio", name=word, exact=True)
        if option.count():
            option.click()
            return
        field = self.page.locator(f".st-key-{key} input").first
        field.fill(word)
        field.press("Enter")
        field.blur()

    def play(
        self, lesson: Lesson, *, choice: int = 0, seen: Callable[[str], None] = lambda _: None
    ) -> None:
        """Play the open lesson to its end."""
        for at, step in enumerate(lesson.steps):
            self.expect_step(lesson, at)
            if step.ask is not None:
                expect(self.panel.locator(".reveal .told")).to_be_hidden()
                seen(f"{at + 1}-ask")
                self.guess(choice)
            if step.wait:
                self.expect_text(".todo", step.do[:20])
                if step.point:
                    self.expect_marked(step)
                seen(f"{at + 1}-do")
                self.act(step)
            last = at == len(lesson.steps) - 1
            self.button("Finish" if last else "Next").wait_for()
            assert self.panel.locator(".reveal.lacks").count() == 0
            if step.reveal:
                expect(self.panel.locator(".told")).not_to_contain_text("…")
            seen(f"{at + 1}-shown")
            if not last:
                self.button("Next").click()
