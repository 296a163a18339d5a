"""The Decode page in a real browser: first paint, run, stop, select, reshape, restore."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import CHARTS, PATIENCE_MS, DecodePage

pytestmark = pytest.mark.browser

# Slow on purpose: a long prompt read anew at every step, too hot for an end by itself.
LONG_RUN = {"prompt": "once upon a time " * 95, "tokens": 600, "temperature": 10, "top_p": 1.0}


@pytest.fixture
def decode(page: Page, server: str) -> DecodePage:
    return DecodePage(page, server)


def test_the_example_is_there_at_first_and_a_step_is_chosen_by_text_heatmap_and_keys(
    decode: DecodePage,
) -> None:
    decode.open()
    expect(decode.status).to_contain_text("Example")
    expect(decode.tokens.first).to_be_visible()
    for name in CHARTS:
        expect(decode.drawn(name)).to_be_visible(timeout=PATIENCE_MS)
    expect(decode.page.get_by_role("button", name=re.compile("^.*Consistent"))).to_be_visible()
    assert decode.page.troubles == []  # type: ignore[attr-defined]
    # A click on a token selects its step everywhere.
    before = decode.figure_data("candidates")
    decode.tokens.nth(6).click()
    decode.expect_step(6)
    expect(decode.selected).to_have_count(1)
    expect(decode.selected).to_have_attribute("data-index", "6")
    decode.page.wait_for_function(
        "before => document.querySelector('.st-key-figure-candidates .js-plotly-plot')"
        "?.layout?.words?.alt !== before",
        arg=before["layout"]["words"]["alt"],
    )
    # So does one in the heatmap.
    plot = decode.figure("heatmap").locator(".js-plotly-plot .nsewdrag").first
    box = plot.bounding_box()
    assert box
    before = str(decode.step_number())
    plot.click(position={"x": box["width"] * 0.51, "y": box["height"] * 0.5})
    expect(decode.selected).not_to_have_attribute("data-index", before)
    decode.expect_step(int(str(decode.selected.get_attribute("data-index"))))
    # Arrow keys step from anywhere but an input.
    expect(decode.selected).to_be_attached()
    keyboard = decode.page.keyboard
    start = decode.step_number()
    keyboard.press("ArrowLeft")
    decode.expect_step(start - 1)
    decode.tokens.nth(4).click()
    decode.expect_step(4)
    keyboard.press("ArrowLeft")
    decode.expect_step(3)
    assert focused_token(decode) == "3"
    keyboard.press("End")
    decode.expect_step(decode.tokens.count() - 1)
    decode.tokens.nth(4).click()
    decode.expect_step(4)
    decode.page.locator(".st-key-prompt textarea").click()
    keyboard.press("ArrowRight")
    decode.page.get_by_role("button", name="Next step").click()
    decode.expect_step(5)
    expect(decode.selected).to_have_attribute("data-index", "5")
    # Another theme draws the figures anew.
    assert decode.figure_data("heatmap")["layout"]["paper_bgcolor"] == "#ffffff"
    decode.page.get_by_test_id("stMainMenuButton").click()
    decode.page.get_by_role("menuitemradio", name="Dark").click()
    decode.page.wait_for_function(
        "() => document.querySelector('.st-key-figure-heatmap .js-plotly-plot')"
        "?.layout?.paper_bgcolor === '#12161b'"
    )


def test_a_run_streams_ends_with_a_proof_is_checked_timed_and_paged(decode: DecodePage) -> None:
    # Without `run` in the address the example is shown, beside the address's knobs.
    decode.open(tokens=12, temperature=0.75)
    expect(decode.status).to_contain_text("Example")
    expect(decode.page.locator(".st-key-temperature input")).to_have_value("0.75")
    decode.run()
    expect(decode.tokens).to_have_count(12)
    expect(decode.status).to_contain_text("12 tokens")
    consistent = re.compile("Consistent: (\\d+) of \\1 checks")
    expect(decode.page.get_by_role("button", name=consistent)).to_be_visible()
    expect(decode.page).to_have_url(re.compile("run=1"))
    # The check against the model adds checks.
    proof = decode.page.locator(".st-key-proof button").first
    before = checks_of(proof.inner_text())
    proof.click()
    decode.page.get_by_role("button", name="Check against the model").click()
    expect(proof).not_to_contain_text(f"Consistent: {before} of", timeout=PATIENCE_MS)
    assert checks_of(proof.inner_text()) > before
    decode.page.keyboard.press("Escape")
    # The cache can be measured.
    decode.page.get_by_role("tab", name="Time").click()
    decode.page.get_by_role("button", name="Time the cache on and off in turns").click()
    decode.page.wait_for_function(
        "() => document.querySelector('.st-key-figure-time .js-plotly-plot')"
        "?.layout?.words?.alt?.match(/Cache.off/)"
    )
    # A longer run pages its heatmap, by the window of the selected step.
    decode.set_number("tokens", 60)
    decode.run()
    pager = decode.page.locator(".st-key-pager-steps")
    decode.tokens.first.click()
    expect(pager).to_contain_text("Steps 1 to 40 of 60")
    pager.get_by_role("button", name="Later steps").click()
    expect(pager).to_contain_text("Steps 41 to 60 of 60")


def checks_of(label: str) -> int:
    match = re.search(r"(\d+) of (\d+)", label)
    assert match and match[1] == match[2]
    return int(match[1])


def test_stop_ends_the_run_and_keeps_what_is_there(decode: DecodePage) -> None:
    decode.open(**LONG_RUN, cache="false")
    expect(decode.page.locator(".js-plotly-plot").first).to_be_visible()
    decode.run_button.click()
    expect(decode.status).to_contain_text(re.compile(r"Decoding · \d+ tokens"))
    decode.stop_button.click()
    expect(decode.status).to_contain_text("stopped before its end")
    expect(decode.run_button).to_be_visible()
    expect(decode.tokens.first).to_be_visible()
    assert decode.tokens.count() < LONG_RUN["tokens"]
    decode.tokens.first.click()
    decode.expect_step(0)


def focused_token(decode: DecodePage) -> object:
    return decode.page.evaluate("document.activeElement.shadowRoot?.activeElement?.dataset.index")


def test_the_address_restores_the_page_and_a_knob_reshapes_its_step(decode: DecodePage) -> None:
    decode.open()
    decode.write_prompt("A list of colors: red,")
    decode.set_number("temperature", 1.1)
    decode.set_number("seed", 4321)
    decode.set_number("tokens", 9)
    expect(decode.page).to_have_url(re.compile("(?=.*temperature=1.1)(?=.*seed=4321).*tokens=9"))
    decode.run()
    expect(decode.page).to_have_url(re.compile("run=1"))
    expect(decode.tokens).to_have_count(9)
    text, tokens = decode.text(), decode.tokens.all_text_contents()
    decode.open_as_another(decode.page.url)
    expect(decode.status).to_contain_text("Your run", timeout=PATIENCE_MS)
    expect(decode.tokens).to_have_text(tokens, use_inner_text=False)
    assert decode.text() == text
    expect(decode.page.locator(".st-key-temperature input")).to_have_value("1.10")
    expect(decode.page.locator(".st-key-prompt textarea")).to_have_value("A list of colors: red,")
    # A knob reshapes the selected step without a run.
    before = decode.figure_data("candidates")["layout"]["words"]["alt"]
    decode.set_number("temperature", 1.6)
    expect(decode.page.locator(".st-key-step-head .st-key-note-changed")).to_contain_text(
        "show this step under the new knobs"
    )
    decode.page.wait_for_function(
        "before => document.querySelector('.st-key-figure-candidates .js-plotly-plot')"
        "?.layout?.words?.caption?.includes('temperature 1.6')",
        arg=before,
    )
    assert decode.text() == text
    decode.set_number("temperature", 1.1)
    expect(decode.page.locator(".st-key-step-head .st-key-note-changed")).to_have_count(0)
    # The slider and its field hold one value.
    decode.page.get_by_role("slider", name="Temperature").press("ArrowRight")
    expect(decode.page.locator(".st-key-temperature input")).to_have_value("1.15")
    expect(decode.page).to_have_url(re.compile("temperature=1.15"))
    # Typed and not confirmed: the click on Run takes it along.
    decode.page.locator(".st-key-temperature input").fill("1.5")
    decode.run_button.click()
    expect(decode.page.locator(".st-key-step-head .st-key-note-changed")).to_have_count(0)
    expect(decode.page).to_have_url(re.compile("temperature=1.5"))
