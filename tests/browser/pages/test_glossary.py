"""The meaning of a marked word, by pointer, keyboard and finger."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser


def test_a_marked_word_opens_its_entry_and_escape_closes_it(page: Page, server: str) -> None:
    DecodePage(page, server).open()
    word = page.locator(".st-key-intro").get_by_role("link", name="vocabulary")
    entry = page.get_by_role("tooltip")
    expect(word).to_be_visible()
    expect(page.get_by_role("button", name="Words")).to_be_visible()
    # A pointer.
    word.hover()
    expect(entry).to_contain_text("All tokens that a model knows")
    expect(word).to_have_attribute("aria-describedby", "de-entry")
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    # The keyboard.
    page.mouse.move(5, 400)
    page.locator(".st-key-intro a").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(entry).to_be_visible()
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    page.keyboard.press("Enter")
    expect(entry).to_be_visible()
    # The list opens at the word.
    page.keyboard.press("?")
    expect(page.locator(".de-glossary")).to_be_visible()
    expect(page.locator(".de-glossary .at")).to_be_in_viewport()
    expect(page.locator(".de-glossary .at")).to_have_text("token")
    page.keyboard.press("Escape")
    expect(page.locator(".de-glossary")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("#"))
    assert page.troubles == []  # type: ignore[attr-defined]


def test_the_entry_stays_inside_a_phone_s_window(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    DecodePage(page, server).open()
    word, entry = page.locator(".st-key-intro a").last, page.get_by_role("tooltip")
    expect(page.get_by_role("button", name="Words")).to_be_visible()
    word.click()
    expect(entry).to_be_visible()
    box = entry.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 400
    page.locator("h1").click()
    expect(entry).to_be_hidden()
