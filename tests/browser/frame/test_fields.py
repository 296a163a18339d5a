"""Fields that say what they take: a long prompt, the picker of models, numbers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_fields_take_what_fits_with_a_word_and_the_picker_what_is_typed(
    page: Page, server: str
) -> None:
    page.goto(f"{server}/reasoning")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    note = page.locator(".de-note")
    # Numbers take a decimal comma and the nearest of their range.
    steps = page.locator(".st-key-steps input")
    for typed, held in (("1e0", "1"), ("3.7", "4")):
        steps.fill(typed)
        steps.press("Enter")
        expect(steps).to_have_value(held)
    expect(note).to_have_text("This field takes whole numbers: 3.7 is 4 now.")
    steps.fill("5")  # Its number is another one, so the note goes.
    expect(note).to_have_count(0)
    steps.hover()
    expect(steps).to_have_attribute("title", re.compile("^1 to "))
    heat = page.locator(".st-key-reason_temperature input")
    heat.fill("")
    heat.press_sequentially("0,5")
    heat.press("Enter")
    expect(heat).to_have_value("0.50")
    # A prompt is cut with a word.
    page.get_by_role("link", name="Decode").click()
    prompt = page.locator(".st-key-prompt textarea")
    prompt.fill("x" * 20_001)
    expect(note).to_have_text(
        "This field takes 20,000 characters: it holds the first of your 20,001."
    )
    expect(prompt).to_have_value("x" * 20_000)
    prompt.fill("")
    # Typing into the picker that was clicked replaces its choice.
    field = page.locator(".st-key-model input")
    expect(field).to_have_value("embedded:target")
    field.click()
    page.keyboard.type("some/model")
    expect(field).to_have_value("some/model")
    field.press("Escape")
    expect(field).to_have_value("embedded:target")
    # It takes the whole text that begins as its choice.
    field.press("End")
    field.press_sequentially("_x")
    field.press("Enter")
    expect(page).to_have_url(re.compile("model=embedded%3Atarget_x(&|$)"))
    expect(field).to_have_value("embedded:target_x")
