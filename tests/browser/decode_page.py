"""The Decode page as a user meets it."""

from __future__ import annotations

import re
from contextlib import suppress

from playwright.sync_api import Locator, TimeoutError, expect

from tests.browser.app_page import AppPage

CHARTS = ("heatmap", "candidates", "stages", "uncertainty")


class DecodePage(AppPage):
    """Actions on the Decode page, and its contents as a user sees them."""

    PATH = "decode"
    HEADING = "Decode"
    STRIP = "strip"

    @property
    def tokens(self) -> Locator:
        return self.page.locator(f".st-key-{self.STRIP} .tokens button")

    @property
    def selected(self) -> Locator:
        return self.page.locator(f".st-key-{self.STRIP} .tokens button[aria-current=true]")

    @property
    def run_button(self) -> Locator:
        return self.page.locator(".st-key-start button")

    @property
    def stop_button(self) -> Locator:
        return self.page.locator(".st-key-stop_run button")

    @property
    def status(self) -> Locator:
        return self.page.locator("[class*='st-key-status-'] [data-testid=stText]")

    @property
    def step_head(self) -> Locator:
        return self.page.locator(".st-key-step-head")

    def run(self) -> None:
        """Press Run, once the page has drawn its first chart, and wait for the end."""
        with suppress(TimeoutError):
            self.page.locator(".js-plotly-plot").first.wait_for(timeout=10_000)
        self.run_button.click()
        expect(self.status).to_contain_text("Your run")
        expect(self.run_button).to_be_visible()

    def step_number(self) -> int:
        """The index of the selected step."""
        match = re.search(r"Step (\d+)", self.step_head.inner_text())
        assert match
        return int(match[1]) - 1

    def expect_step(self, index: int) -> None:
        expect(self.step_head).to_contain_text(f"Step {index + 1} of")

    def expect_selected(self, index: int) -> None:
        """Step and strip both show the token."""
        self.expect_step(index)
        expect(self.selected).to_have_attribute("data-index", str(index))
