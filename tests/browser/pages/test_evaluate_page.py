"""Evaluate in a browser: stored lessons, a plan of one's own run, stopped and resumed, links."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

PLAN = """
questions: own:facts
count: 3
ways:
  - {name: one, use_chat_template: true, config: {method: greedy, max_new_tokens: 20}}
  - {name: two, use_chat_template: false, config: {method: beam, num_beams: 2, max_new_tokens: 20}}
"""
LONG = PLAN.replace("count: 3", "count: 60")


def give(page: Page, text: str) -> None:
    file = {"name": "plan.yaml", "mimeType": "text/yaml", "buffer": text.encode()}
    page.locator(".st-key-plan_file input[type=file]").set_input_files(file)


def test_a_stored_lesson_links_to_decode_and_an_own_plan_is_refused_run_stopped_and_resumed(
    page: Page, server: str
) -> None:
    page.goto(f"{server}/evaluate")
    expect(page.get_by_text("Example · 96 of 96 runs")).to_be_visible()
    expect(page.get_by_text("Template text stands between")).to_be_visible()
    # The answer to the question of the evaluation is a press away.
    answer = page.get_by_text("It costs the answers where the target lacks it")
    expect(answer).to_be_hidden()
    page.get_by_text("Show the answer").click()
    expect(answer).to_be_visible()
    link = page.get_by_role("link", name="Decode: greedy, one word · template")
    address = link.get_attribute("href")
    # The inputs, with their special tokens.
    page.get_by_role("button", name="Show the inputs").click()
    expect(page.get_by_text("<|user|>").first).to_be_visible()
    # A plan of one's own.
    page.locator(".st-key-own-plan button").first.click()
    give(page, "questions: own:facts\nways: [{name: a, temperature: 1}]")
    expect(page.get_by_text("A way has no setting 'temperature'").first).to_be_visible()
    give(page, PLAN)
    expect(page.get_by_text("2 ways, 3 questions, 6 runs")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-start_evaluation button").click()
    expect(page.get_by_text("Your run · 6 of 6 runs")).to_be_visible()
    # A longer one is stopped, and can be resumed.
    page.locator(".st-key-own-plan button").first.click()
    give(page, LONG)
    expect(page.get_by_text("60 questions, 120 runs")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-start_evaluation button").click()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.locator(".st-key-stop_evaluation button").click()
    expect(page.get_by_text("Your run, stopped")).to_be_visible()
    expect(page.locator(".st-key-start_evaluation button")).to_contain_text("Resume")
    page.goto(f"{server}{address}")
    expect(page.locator(".st-key-text-panel")).to_contain_text("Paris.")
