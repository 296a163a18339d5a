"""The Sampling lab as a user meets it."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.app_page import AppPage

CHARTS = ("draw", "stages", "flips", "rolls")


class SamplingPage(AppPage):
    """Actions on the sampling lab, and its contents as a user sees them."""

    PATH = "sampling"
    HEADING = "Sampling lab"

    @property
    def outcome(self) -> Locator:
        return self.page.locator(".st-key-lab-outcome")

    @property
    def text_before(self) -> Locator:
        return self.page.locator(".st-key-lab-step [data-testid=stText]").first

    def choose(self, words: str) -> None:
        """Press a segment of one of the segmented controls."""
        self.page.get_by_role("button", name="Order and dice").click()
        self.page.get_by_test_id("stButtonGroup").get_by_text(words, exact=True).click()
