"""The reasoning page as a user meets it."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.decode_page import DecodePage


class ReasonPage(DecodePage):
    """Actions on the reasoning page, and its contents as a user sees them."""

    PATH = "reasoning"
    HEADING = "Reasoning budget"
    FIRST = "accuracy"

    def piece(self, kind: str) -> Locator:
        """The pieces of the run's text that have this class."""
        return self.page.locator(f".st-key-text-panel .tokens .{kind}")
