"""The page Inside in a browser: keys walk the steps, boxes open, a function shows its source."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_decode_opens_its_step_keys_walk_the_steps_and_a_function_shows_its_source(
    server: str, page: Page
) -> None:
    page.goto(f"{server}/decode?step=2")
    page.locator(".st-key-open_inside button").click()
    count = page.locator(".way .count")
    expect(count).to_contain_text("step 3 of 40")
    # The controls follow the run that the page takes over.
    expect(page).to_have_url(f"{server}/inside?inside_tokens=40&step=2")
    # The first recording of a server waits for torch and the model.
    page.locator('[data-box="forward"] summary').first.click()
    expect(page.locator('[data-box="forward"]')).to_contain_text("KV cache")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(count).to_contain_text("step 4 of 40")
    shaping = page.locator('[data-box="shaping"]')
    shaping.locator("summary").first.click()
    row = shaping.locator(":scope > .rows > .row").nth(1)
    row.locator("summary").first.click()
    row.get_by_role("button", name="Show the source").first.click()
    expect(row.locator("pre").first).to_contain_text("def shape(")
    # What is open stays open while the steps go by.
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(count).to_contain_text("step 5 of 40")
    expect(row.locator("pre").first).to_be_visible()
    page.get_by_role("button", name="Next step").click()
    expect(count).to_contain_text("step 6 of 40")
