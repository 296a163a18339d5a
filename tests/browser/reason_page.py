"""The reasoning page as a user meets it."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import Locator, expect

from tests.browser.decode_page import PATIENCE_MS, DecodePage


class ReasonPage(DecodePage):
    """What one does on the page, and what one reads off it."""

    def open(self, **parameters: object) -> ReasonPage:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/reasoning{query}")
        heading = self.page.get_by_role("heading", name="Reasoning budget", exact=True)
        expect(heading).to_be_visible(timeout=PATIENCE_MS)
        expect(self.drawn("accuracy")).to_be_visible(timeout=PATIENCE_MS)
        return self

    def piece(self, kind: str) -> Locator:
        """The pieces of the run's text that have this class."""
        return self.page.locator(f".st-key-text-panel .tokens .{kind}")

    @property
    def text(self) -> Locator:  # type: ignore[override]
        return self.page.locator(".st-key-text-panel .tokens")

    @property
    def verdict(self) -> Locator:
        return self.page.locator("[class*='st-key-verdict-'][class*='-run']")

    @property
    def sweep_words(self) -> Locator:
        return self.page.locator(".st-key-sweep-words [data-testid=stText]")

    def set_text(self, key: str, text: str) -> None:
        field = self.page.locator(f".st-key-{key} input")
        field.fill(text)
        field.press("Enter")
