"""Two runs side by side in a browser: chosen in step, by mouse and by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_token_chosen_on_one_side_is_chosen_on_the_other(page: Page, server: str) -> None:
    page.goto(f"{server}/compare")
    current = [
        page.locator(f".st-key-{slot}_text-panel .tokens button[aria-current]") for slot in "ab"
    ]
    for token in current:
        expect(token).to_have_attribute("data-index", "4")
        expect(token).to_have_class("parted")
    page.locator(".st-key-b_text-panel .tokens button[data-index='9']").click()
    for token in current:
        expect(token).to_have_attribute("data-index", "9")
    page.keyboard.press("ArrowRight")
    for token in current:
        expect(token).to_have_attribute("data-index", "10")
    page.get_by_role("button", name="First difference").click()
    for token in current:
        expect(token).to_have_attribute("data-index", "4")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
