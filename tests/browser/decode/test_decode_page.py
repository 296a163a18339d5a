"""The Decode page in a real browser: first paint, run, stop, select, reshape, restore."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import CHARTS, DecodePage

pytestmark = pytest.mark.browser

# Slow on purpose: a long prompt read anew at every step, too hot for an end by itself.
LONG_RUN = {"prompt": "once upon a time " * 95, "tokens": 600, "temperature": 10, "top_p": 1.0}
ALT = """before => document.querySelector('.st-key-figure-candidates .js-plotly-plot')
  ?.layout?.words?.alt !== before"""


def test_the_example_is_there_at_first_and_a_step_is_chosen_by_text_heatmap_and_keys(
    page: Page, server: str
) -> None:
    decode = DecodePage(page, server).open()
    expect(decode.status).to_contain_text("Example")
    for name in CHARTS:
        expect(decode.drawn(name)).to_be_visible()
    assert page.troubles == []  # type: ignore[attr-defined]
    # A click on a token selects its step everywhere.
    before = decode.figure_data("candidates")["layout"]["words"]["alt"]
    decode.tokens.nth(6).click()
    decode.expect_selected(6)
    page.wait_for_function(ALT, arg=before)
    # So does one in the heatmap.
    plot = decode.figure("heatmap").locator(".js-plotly-plot .nsewdrag").first
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": box["width"] * 0.51, "y": box["height"] * 0.5})
    expect(decode.selected).not_to_have_attribute("data-index", "6")
    start = int(str(decode.selected.get_attribute("data-index")))
    decode.expect_selected(start)
    # Arrow keys step from anywhere but an input.
    page.keyboard.press("ArrowLeft")
    decode.expect_selected(start - 1)
    decode.tokens.nth(4).click()
    page.keyboard.press("ArrowLeft")
    decode.expect_selected(3)
    assert page.evaluate("document.activeElement.shadowRoot?.activeElement?.dataset.index") == "3"
    page.keyboard.press("End")
    decode.expect_selected(decode.tokens.count() - 1)
    decode.tokens.nth(4).click()
    decode.expect_selected(4)
    page.locator(".st-key-prompt textarea").click()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Next step").click()
    decode.expect_selected(5)
    # Another theme draws the figures anew.
    assert decode.figure_data("heatmap")["layout"]["paper_bgcolor"] == "#ffffff"
    page.get_by_test_id("stMainMenuButton").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-figure-heatmap .js-plotly-plot')"
        "?.layout?.paper_bgcolor === '#12161b'"
    )


def test_stop_keeps_what_is_there_and_the_shortcut_runs_another_prompt_meanwhile(
    page: Page, server: str
) -> None:
    decode = DecodePage(page, server).open(**LONG_RUN, cache="false")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    decode.run_button.click()
    expect(decode.status).to_contain_text(re.compile(r"Decoding\s· \d+ tokens"))
    decode.stop_button.click()
    expect(decode.status).to_contain_text("stopped before its end")
    expect(decode.tokens.first).to_be_visible()
    assert decode.tokens.count() < LONG_RUN["tokens"]
    decode.tokens.first.click()
    decode.expect_step(0)
    # While a run goes on, the shortcut makes another.
    decode.run_button.click()
    expect(decode.stop_button).to_be_visible()
    decode.set_number("tokens", 4)
    decode.write_prompt("A list of colors: red,")
    expect(decode.status).to_contain_text("Your run · 4 tokens")
    expect(page.locator(".st-key-strip .prompt")).to_contain_text(["A list of"])


def test_the_address_restores_the_run_and_a_knob_reshapes_its_step(page: Page, server: str) -> None:
    decode = DecodePage(page, server).open(temperature=0.75)
    decode.write_prompt("A list of colors: red,")
    decode.set_number("temperature", 1.1)
    decode.set_number("seed", 4321)
    decode.set_number("tokens", 9)
    expect(page).to_have_url(re.compile("(?=.*temperature=1.1)(?=.*seed=4321).*tokens=9"))
    decode.run()
    expect(page).to_have_url(re.compile("run=1"))
    expect(decode.tokens).to_have_count(9)
    tokens = decode.tokens.all_text_contents()
    # Another browser makes the run again from its address.
    decode.open_as_another(page.url)
    expect(decode.status).to_contain_text("Your run")
    expect(decode.tokens).to_have_text(tokens, use_inner_text=False)
    heat = page.locator(".st-key-temperature input")
    expect(heat).to_have_value("1.10")
    field = page.locator(".st-key-prompt textarea")
    expect(field).to_have_value("A list of colors: red,")
    # A knob reshapes the selected step without a run.
    note = page.locator(".st-key-step-head .st-key-note-changed")
    decode.set_number("temperature", 1.6)
    expect(note).to_contain_text("show this step under the new knobs")
    decode.wait_for_caption("candidates", "temperature 1.6")
    expect(decode.tokens).to_have_text(tokens, use_inner_text=False)
    # Typed and not confirmed: the click on Run takes it along.
    heat.fill("1.5")
    decode.run_button.click()
    expect(note).to_have_count(0)
    expect(page).to_have_url(re.compile("temperature=1.5"))
    # A prompt that was not run is no part of a link to a run.
    field.fill("Once upon a time")
    field.press("Tab")
    expect(page.locator(".st-key-run-note-changed")).to_contain_text(
        "Changed since this run: Prompt"
    )
    expect(page).not_to_have_url(re.compile("run=1"))
    field.press("Control+Enter")
    expect(page).to_have_url(re.compile("run=1"))
