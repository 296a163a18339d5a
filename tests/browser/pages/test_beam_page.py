"""The tree in a browser: clicks, play, and a window that follows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.beam_page import BeamPage

pytestmark = pytest.mark.browser

RINGED = """([step, place]) => {
  const chart = document.querySelector('.st-key-figure-beam-tree .js-plotly-plot')
  const ring = chart.data.find((trace) => trace.name === 'selected')
  return ring && ring.customdata[0][0] === step && ring.customdata[0][1] === place
}"""
# Fills of the drawn tokens of the best path, and of the kept ones.
FILLS = """() => ['best', 'kept'].map((name) => {
  const chart = document.querySelector('.st-key-figure-beam-tree .js-plotly-plot')
  const bars = [...chart.querySelectorAll('g.trace.bars')]
  const drawn = bars.find((node) => node.__data__[0].trace.name === name)
  return getComputedStyle(drawn.querySelector('.point path')).fill
})"""
SHRUNK = """nodes => nodes.filter((node) =>
  (node.getAttribute('transform') || '').includes('scale')).length"""


def test_the_example_is_clicked_and_played(page: Page, server: str) -> None:
    beam = BeamPage(page, server).open()
    # A click on a token selects it and its path.
    step, place = beam.click_node(3)
    expect(beam.node).to_contain_text(f"Step {step + 1}, rank")
    expect(beam.figure("beam-step")).to_contain_text(f"Candidates at step {step + 1}")
    page.wait_for_function(RINGED, arg=[step, place])
    # A click on a bar of the step; the pruned ones are drawn first, the last of them the longest.
    bar = beam.figure("beam-step").locator(".trace.bars").first.locator(".point path").last
    head = page.locator(".st-key-node-head")
    expect(head).not_to_contain_text("Pruned")
    bar.click(force=True)
    expect(head).to_contain_text("Pruned")
    # A click on a label.
    beam.figure("beam-step").locator(".ytick text").nth(4).click()
    expect(beam.node).to_contain_text("rank 5")
    # Play shows the tree up to a step.
    expect(beam.cover).to_be_hidden()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(beam.cover).to_be_visible()
    # The winner isn't given away before the end.
    best, kept = page.evaluate(FILLS)
    assert best == kept
    left = beam.cover.bounding_box()
    expect(beam.slider).to_have_value(re.compile(r"[3-9]|\d\d"))
    later = beam.cover.bounding_box()
    assert left and later and later["x"] > left["x"]
    # Pause holds it; played on, it ends with all of it.
    page.get_by_role("button", name="Pause", exact=True).click()
    stopped = beam.slider.input_value()
    page.wait_for_timeout(700)
    assert beam.slider.input_value() == stopped
    page.get_by_role("button", name="Play", exact=True).click()
    expect(beam.cover).to_be_hidden()
    assert beam.slider.input_value() == beam.slider.get_attribute("max")
    best, kept = page.evaluate(FILLS)
    assert best != kept
    beam.slider.fill("9")
    expect(beam.cover).to_be_visible()
    expect(page.locator(".play output")).to_have_text("steps up to 9")
    # The cover stays when the chart is drawn anew.
    step, _ = beam.click_node(2)
    expect(beam.node).to_contain_text(f"Step {step + 1}, rank")
    expect(beam.cover).to_be_visible()
    expect(beam.slider).to_have_value("9")
    assert page.troubles == []  # type: ignore[attr-defined]


def test_play_and_the_slider_go_on_beyond_the_window_and_no_text_is_shrunk(
    page: Page, server: str
) -> None:
    beam = BeamPage(page, server).open(span=10)
    pager = page.locator(".st-key-pager-steps")
    expect(pager).to_contain_text("Steps 1 to 10 of")
    beam.slider.fill("9")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(pager).to_contain_text(re.compile("Steps? 11 "))
    expect(beam.slider).to_have_value(str(beam.slider.get_attribute("max")))
    expect(beam.cover).to_be_hidden()
    beam.slider.fill("4")
    beam.slider.dispatch_event("change")
    expect(pager).to_contain_text("Steps 1 to 10 of")
    expect(page.locator(".play output")).to_have_text("steps up to 4")
    expect(beam.cover).to_be_visible()
    # What was pruned is drawn too, each text in its full size.
    texts = beam.figure("beam-tree").locator(".bartext")
    before = texts.count()
    page.locator(".st-key-pruned").get_by_text("Pruned").click()
    expect(texts.nth(before)).to_be_attached()
    assert texts.evaluate_all(SHRUNK) == 0
    assert page.troubles == []  # type: ignore[attr-defined]
