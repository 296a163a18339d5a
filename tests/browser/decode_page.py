"""The Decode page as a user meets it."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import urlencode

from playwright.sync_api import Locator, TimeoutError, expect

from tests.browser.app_page import PATIENCE_MS as PATIENCE_MS
from tests.browser.app_page import AppPage

CHARTS = ("heatmap", "candidates", "stages", "uncertainty")


class DecodePage(AppPage):
    """What one does on the page, and what one reads off it."""

    def open(self, **parameters: object) -> DecodePage:
        query = f"/?{urlencode(parameters)}" if parameters else "/"
        self.page.goto(self.server + query)
        expect(self.page.get_by_role("heading", name="Decode", exact=True)).to_be_visible(
            timeout=PATIENCE_MS
        )
        return self

    @property
    def tokens(self) -> Locator:
        return self.page.locator(".st-key-strip .tokens button")

    @property
    def selected(self) -> Locator:
        return self.page.locator(".st-key-strip .tokens button[aria-current=true]")

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
        expect(self.status).to_contain_text("Your run", timeout=PATIENCE_MS)
        expect(self.run_button).to_be_visible()

    def text(self) -> str:
        return "".join(self.tokens.all_text_contents())

    def step_number(self) -> int:
        """The index of the selected step."""
        match = re.search(r"Step (\d+)", self.step_head.inner_text())
        assert match
        return int(match[1]) - 1

    def expect_step(self, index: int) -> None:
        expect(self.step_head).to_contain_text(f"Step {index + 1} of", timeout=PATIENCE_MS)
