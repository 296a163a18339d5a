"""The page Read in a browser: read a text by the keyboard, walk its tokens, follow pinned ones."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_text_is_read_and_walked_by_keys_and_its_pins_are_followed(
    page: Page, server: str
) -> None:
    page.goto(f"{server}/read?read_look=pins&pins={quote(' the')}")
    figure = page.locator(".st-key-figure-pins")
    expect(figure.locator(".main-svg").first).to_be_visible()
    # The model has read the run: no step is without a number.
    expect(page.get_by_text("Reading the run's logits…")).to_have_count(0)
    expect(figure.get_by_text("not among the candidates")).to_have_count(0)
    field = page.get_by_label("Text", exact=True)
    field.fill("Once upon a time, there was a <b>dog</b>.")
    field.press("Control+Enter")
    expect(page.get_by_text("Your run", exact=False).first).to_be_visible()
    expect(page.locator(".strip .tokens")).to_contain_text("<b>dog</b>")
    page.locator(".strip .tokens > *").first.click()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]step=1\b"))
