"""The Sampling lab in a real browser: knobs, dice, a step of a run, its link and its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage
from tests.browser.sampling_page import CHARTS, SamplingPage

pytestmark = pytest.mark.browser

KEPT = """part => part.isConnected || part.ownerDocument.querySelector(
  '.st-key-figure-flips .js-plotly-plot')?.layout.words.caption.includes('ure 0.85')"""


def test_the_example_is_there_at_first_and_follows_its_knobs(page: Page, server: str) -> None:
    lab = SamplingPage(page, server).open()
    for name in CHARTS:
        expect(lab.drawn(name)).to_be_visible()
    # A slider redraws from the stored logits what it changes.
    slider = page.get_by_role("slider", name="Temperature")
    flips = lab.figure("flips").locator(".js-plotly-plot").element_handle()
    slider.press("ArrowRight")
    lab.wait_for_caption("stages", "temperature 0.85")
    assert flips.evaluate(KEPT), "drawn anew though nothing had changed"
    for name in CHARTS:
        lab.wait_for_caption(name, "temperature 0.85")
    expect(page).to_have_url(re.compile("temperature=0.85"))
    expect(page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    # A key held down ends where it leads.
    slider.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight", delay=20)
    for name in CHARTS:
        lab.wait_for_caption(name, "temperature 1.2 ")
    expect(page.locator(".st-key-temperature input")).to_have_value("1.20")
    # Two values typed at once are both in the address.
    lab.set_number("temperature", 1.3)
    lab.set_number("epsilon", 0.003)
    lab.wait_for_caption("rolls", "top-p 0.95 · epsilon cutoff 0.003")
    expect(page).to_have_url(re.compile("(?=.*epsilon=0.003).*temperature=1.3"))
    # An order and a way of drawing are chosen by a press.
    lab.choose("llama.cpp")
    lab.wait_for_caption("stages", "order of llama.cpp")
    expect(page.get_by_role("button", name="Order and dice (1)")).to_be_visible()
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_step_of_the_run_is_brought_over_linked_and_saved(
    page: Page, server: str, tmp_path: Path
) -> None:
    decode, lab = DecodePage(page, server).open(tokens=12, seed=5), SamplingPage(page, server)
    decode.run()
    decode.tokens.nth(4).click()
    # The step is drawn before the server knows of it; then the address has it.
    expect(page).to_have_url(re.compile("step=4"))
    page.get_by_role("link", name="Sampling lab").click()
    lab.expect_open()
    expect(page.get_by_role("button", name=re.compile("Step 5 of 12"))).to_be_visible()
    lab.wait_for_caption("stages", "roll 5")
    expect(page).to_have_url(re.compile("ids="))
    text, words = lab.text_before.inner_text(), lab.outcome.inner_text()
    lab.open_as_another(page.url)
    lab.wait_for_caption("stages", "roll 5")
    assert (lab.text_before.inner_text(), lab.outcome.inner_text()) == (text, words)
    # The knobs are the same on both pages.
    lab.set_number("temperature", 1.35)
    lab.wait_for_caption("stages", "temperature 1.35")
    page.get_by_role("link", name="Decode").click()
    heat = page.locator(".st-key-temperature input")
    expect(heat).to_have_value("1.35")
    page.get_by_role("link", name="Sampling lab").click()
    expect(heat).to_have_value("1.35")
    lab.wait_for_caption("flips", "temperature 1.35")
    expect(page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    # A saved step opens from the Decode page, and is proved.
    page.get_by_role("button", name="Save").click()
    file = tmp_path / "step.json"
    file.write_bytes(lab.download("Trace file (JSON)")[1])
    lab.open_as_another(server)
    lab.open_trace(file)
    lab.expect_open()
    expect(lab.outcome).to_contain_text("From a file: the model gives the same numbers")
    expect(heat).to_have_value("1.35")
