"""The page Inside in a browser: keys walk the steps, boxes open, a function shows its source."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
# The first recording of a server waits for torch and the model.
LOADED_MS = 120_000


def count(page: Page) -> Locator:
    return page.locator(".way .count")


def test_decode_opens_its_step_keys_walk_the_steps_and_a_function_shows_its_source(
    server: str, page: Page
) -> None:
    page.goto(f"{server}/?step=2")
    button = page.locator(".st-key-open_inside button")
    button.click(timeout=LOADED_MS)
    expect(count(page)).to_contain_text("step 3 of 40", timeout=LOADED_MS)
    expect(page).to_have_url(f"{server}/inside?step=2")
    forward = page.locator('[data-box="forward"]')
    expect(forward).to_contain_text("KV cache", timeout=LOADED_MS)
    page.locator("h1").click()
    for at in (4, 5):
        page.keyboard.press("ArrowRight")
        expect(count(page)).to_contain_text(f"step {at} of 40")
    shaping = page.locator('[data-box="shaping"]')
    shaping.locator("summary").first.click()
    row = shaping.locator(":scope > .rows > .row").nth(2)
    row.locator("summary").first.click()
    row.get_by_role("button", name="Show the source").first.click()
    expect(row.locator("pre").first).to_contain_text("def shape(")
    # What is open stays open while the steps go by.
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(count(page)).to_contain_text("step 6 of 40")
    expect(row.locator("pre").first).to_be_visible()
    expect(page.get_by_text("Proved by the model: 2 of 2 checks")).to_be_visible()
    # The lens is drawn.
    page.get_by_role("tab", name="Logit lens").click()
    lens = page.locator(".st-key-figure-lens")
    expect(lens.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=LOADED_MS)
    expect(lens.get_by_role("button", name="Export")).to_be_visible()
