"""The tree in a browser: clicks, play, re-ranking, export, links."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from core.decoding.trace import Trace
from tests.browser.beam_page import BeamPage

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[2] / "assets" / "traces" / "beam.json"


@pytest.fixture
def beam(page: Page, server: str) -> BeamPage:
    return BeamPage(page, server).open()


def test_the_example_is_drawn_clicked_played_and_leaves(beam: BeamPage) -> None:
    # All its kept candidates are drawn, and the text of its best hypothesis.
    example = Trace.load(EXAMPLE)
    drawn = sum(len(beam.tree(name)["customdata"]) for name in ("kept", "best", "pruned"))  # type: ignore[arg-type]
    stayed = sum(c.fate != "pruned" for step in example.beam_steps for c in step.candidates)
    selected_is_pruned = len(beam.tree("pruned")["customdata"])  # type: ignore[arg-type]
    assert drawn == stayed + 1 + selected_is_pruned
    expect(beam.text).to_contain_text(example.hypotheses[0].text.strip()[:40])
    # A click on a token selects it and its path.
    step, place = beam.click_node(3)
    expect(beam.node).to_contain_text(f"Step {step + 1}, rank")
    expect(beam.figure("beam-step")).to_contain_text(f"Candidates at step {step + 1}")
    beam.page.wait_for_function(
        """([step, place]) => {
            const chart = document.querySelector('.st-key-figure-beam-tree .js-plotly-plot')
            const ring = chart.data.find((trace) => trace.name === 'selected')
            return ring && ring.customdata[0][0] === step && ring.customdata[0][1] === place
        }""",
        arg=[step, place],
    )
    # A click on a bar of the step; the pruned ones are drawn first, the last of them the longest.
    bar = beam.figure("beam-step").locator(".trace.bars").first.locator(".point path").last
    expect(bar).to_be_attached()
    head = beam.page.locator(".st-key-node-head")
    expect(head).not_to_contain_text("Pruned")
    bar.click(force=True)
    expect(head).to_contain_text("Pruned")
    # A click on a label.
    labels = beam.figure("beam-step").locator(".ytick text")
    expect(labels.first).to_be_visible()
    labels.nth(4).click()
    expect(beam.node).to_contain_text("rank 5")
    assert_grows_in_play(beam)
    assert beam.page.troubles == []  # type: ignore[attr-defined]


def test_no_text_of_the_tree_is_shrunk_and_a_link_opens_page_and_frame(
    page: Page, server: str
) -> None:
    beam = BeamPage(page, server).open(pruned="true", beams=4)
    texts = beam.figure("beam-tree").locator(".bartext")
    expect(texts.first).to_be_visible()
    shrunk = texts.evaluate_all(
        "nodes => nodes.filter((n) => (n.getAttribute('transform') || '').includes('scale')).length"
    )
    assert shrunk == 0
    expect(page.locator(".st-key-beams input")).to_have_value("4")
    expect(page.get_by_role("link", name="Decode")).to_be_visible()


def assert_grows_in_play(beam: BeamPage) -> None:
    """Play and the slider show the tree up to a step."""
    expect(beam.cover).to_be_hidden()
    beam.page.get_by_role("button", name="Play", exact=True).click()
    expect(beam.cover).to_be_visible()
    left = beam.cover.bounding_box()
    expect(beam.slider).to_have_value(re.compile(r"[3-9]|\d\d"))
    later = beam.cover.bounding_box()
    assert left and later and later["x"] > left["x"]
    # Pause holds it.
    beam.page.get_by_role("button", name="Pause", exact=True).click()
    stopped = beam.slider.input_value()
    beam.page.wait_for_timeout(700)
    assert beam.slider.input_value() == stopped
    # Played on, it ends with all of it.
    beam.page.get_by_role("button", name="Play", exact=True).click()
    expect(beam.cover).to_be_hidden()
    assert beam.slider.input_value() == beam.slider.get_attribute("max")
    # The slider shows the tree up to a step.
    beam.slider.fill("4")
    expect(beam.cover).to_be_visible()
    expect(beam.page.locator(".play output")).to_have_text("steps up to 4")
    # So a figure leaves whole.
    assert_leaves_as_svg_and_csv(beam)
    beam.slider.press("End")
    expect(beam.cover).to_be_hidden()
    # The cover stays when the chart is drawn anew.
    beam.slider.fill("9")
    expect(beam.cover).to_be_visible()
    step, _ = beam.click_node(2)
    expect(beam.node).to_contain_text(f"Step {step + 1}, rank")
    expect(beam.cover).to_be_visible()
    expect(beam.slider).to_have_value("9")


def assert_leaves_as_svg_and_csv(beam: BeamPage) -> None:
    beam.figure("beam-tree").get_by_role("button", name=re.compile("Export")).click()
    with beam.page.expect_download(timeout=120_000) as waiting:
        beam.page.get_by_role("button", name="SVG", exact=True).click()
    root = ElementTree.parse(waiting.value.path()).getroot()
    assert root.get("width") == "85mm"
    texts = " ".join(root.itertext())
    assert "The tree of the search" in texts and "num beams 5" in texts.replace("\u00a0", " ")
    with beam.page.expect_download() as waiting:
        beam.page.get_by_role("button", name="CSV", exact=True).click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    example = Trace.load(EXAMPLE)
    assert len(lines) == 1 + sum(len(step.candidates) for step in example.beam_steps)
    assert "parent_row" in lines[0]
    beam.page.keyboard.press("Escape")
    expect(beam.page.get_by_role("button", name="CSV", exact=True)).to_be_hidden()


def test_play_and_the_slider_go_on_beyond_the_window(page: Page, server: str) -> None:
    count = str(len(Trace.load(EXAMPLE).beam_steps))
    beam = BeamPage(page, server).open(span=10)
    pager = beam.page.locator(".st-key-pager-steps")
    expect(pager).to_contain_text("Steps 1 to 10 of")
    beam.slider.fill("9")
    expect(beam.cover).to_be_visible()
    beam.page.get_by_role("button", name="Play", exact=True).click()
    expect(pager).to_contain_text(re.compile("Steps? 11 "))
    expect(beam.slider).to_have_value(count)
    expect(beam.cover).to_be_hidden()
    beam.slider.fill("4")
    beam.slider.dispatch_event("change")
    expect(pager).to_contain_text("Steps 1 to 10 of")
    expect(beam.page.locator(".play output")).to_have_text("steps up to 4")
    expect(beam.cover).to_be_visible()
    assert beam.page.troubles == []  # type: ignore[attr-defined]


def test_a_run_follows_the_controls_is_proved_and_its_link_makes_it_again(beam: BeamPage) -> None:
    # The length penalty ranks anew at once.
    beam.set_number("length_penalty", "-2")
    expect(beam.page.locator(".st-key-note-changed")).to_contain_text("Ranked anew")
    expect(beam.page).to_have_url(re.compile("length_penalty=-2"))
    expect(beam.run_button).to_be_visible()
    # Run searches.
    beam.set_number("beams", 3)
    beam.set_number("beam_tokens", 7)
    expect(beam.page).to_have_url(re.compile("beam_tokens=7"))
    beam.run()
    expect(beam.status).to_contain_text("3 beams")
    found, address = beam.text.inner_text(), beam.page.url
    assert "run=1" in address
    # The link makes the same search.
    beam.open_as_another(address)
    expect(beam.status).to_contain_text("Your run · 3 beams")
    expect(beam.text).to_have_text(found)
    # The check against the model passes.
    beam.page.get_by_role("button", name=re.compile("Consistent")).click()
    checks = beam.page.locator("li.passed")
    expect(checks.first).to_be_visible()
    before = checks.count()
    beam.page.get_by_role("button", name="Check against the model").click()
    expect(checks.nth(before)).to_be_visible()
    assert beam.page.locator("li.failed").count() == 0


def test_stop_ends_a_search_and_keeps_what_it_found(page: Page, server: str) -> None:
    # A search that nothing but Stop ends before its 500 steps.
    beam = BeamPage(page, server)
    beam.open(beams=16, beam_tokens=500, beam_least=500, beam_stop="", early="never")
    expect(beam.page.locator(".st-key-beam_stop input")).to_have_value("")
    beam.run_button.click()
    expect(beam.status).to_contain_text(re.compile(r"Decoding · [1-9]\d* steps"))
    beam.stop_button.click()
    expect(beam.status).to_contain_text("stopped before its end")
    expect(beam.drawn("beam-tree")).to_be_visible()
    assert beam.page.troubles == []  # type: ignore[attr-defined]
