"""Fields that say what they take: the picker of models, and numbers outside their range."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_prompt_is_cut_with_a_word_and_the_picker_takes_what_is_typed(
    page: Page, server: str
) -> None:
    page.goto(server)
    prompt = page.locator(".st-key-prompt textarea")
    prompt.fill("x" * 20_001)
    said = "This field takes 20,000 characters: it holds the first of your 20,001."
    expect(page.locator(".de-note")).to_have_text(said)
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
    field.fill("embedded:target_known")
    expect(field).to_have_value("embedded:target_known")
    field.press("Escape")
    expect(field).to_have_value("embedded:target")
    field.press("End")
    field.press_sequentially("_x")
    expect(field).to_have_value("embedded:target_x")
    field.press("Enter")
    expect(page).to_have_url(re.compile("model=embedded%3Atarget_x(&|$)"))
    expect(field).to_have_value("embedded:target_x")


def test_a_number_outside_its_range_is_changed_with_a_word(page: Page, server: str) -> None:
    page.goto(f"{server}/reasoning")
    field = page.locator(".st-key-thinking input")
    expect(field).to_have_value("128")
    field.fill("5000")
    field.press("Enter")
    said = "5,000 is more than this knob takes: it is 4,096 now."
    expect(page.locator(".rail .note").get_by_text(said)).to_be_visible()
    expect(field).to_have_value("4096")
    steps = page.locator(".st-key-steps input")
    for typed, held in (("1e0", "1"), ("3.7", "4")):
        steps.fill(typed)
        steps.press("Enter")
        expect(steps).to_have_value(held)
    said = "This field takes whole numbers: 3.7 is 4 now."
    expect(page.locator(".de-note")).to_have_text(said)
    heat = page.locator(".st-key-reason_temperature input")
    heat.fill("")
    heat.press_sequentially("0,5")
    heat.press("Enter")
    expect(heat).to_have_value("0.50")
