"""The Sampling lab as a user meets it."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import Locator, expect

from tests.browser.app_page import PATIENCE_MS as PATIENCE_MS
from tests.browser.app_page import AppPage

CHARTS = ("stages", "draw", "flips", "rolls")


class SamplingPage(AppPage):
    """What one does on the page, and what one reads off it."""

    def open(self, **parameters: object) -> SamplingPage:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/sampling{query}")
        self.expect_open()
        return self

    def expect_open(self) -> None:
        heading = self.page.get_by_role("heading", name="Sampling lab", exact=True)
        expect(heading).to_be_visible(timeout=PATIENCE_MS)

    @property
    def outcome(self) -> Locator:
        return self.page.locator(".st-key-lab-outcome")

    @property
    def text_before(self) -> Locator:
        return self.page.locator(".st-key-lab-step [data-testid=stText]").first

    def choose(self, words: str) -> None:
        """Press a segment of one of the segmented controls."""
        self.page.get_by_test_id("stButtonGroup").get_by_text(words, exact=True).click()

    def wait_for_caption(self, name: str, part: str) -> None:
        """Wait until a figure's caption tells of a setting."""
        self.page.wait_for_function(
            "([name, part]) => document.querySelector(`.st-key-figure-${name} .js-plotly-plot`)"
            "?.layout?.words?.caption?.includes(part)",
            arg=[name, part],
            timeout=PATIENCE_MS,
        )

    def caption(self, name: str) -> str:
        return str(self.figure_data(name)["layout"]["words"]["caption"])
