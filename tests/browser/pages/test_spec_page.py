"""The speculative page in a browser: clicks, play, and a field that Run takes along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.decoding.record.trace import Trace
from tests.browser.spec_page import SpecPage

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[3] / "assets" / "traces" / "speculative.json"


def test_the_example_is_clicked_and_played_and_run_takes_a_field_s_number_along(
    page: Page, server: str
) -> None:
    spec, rounds = SpecPage(page, server).open(), Trace.load(EXAMPLE).rounds
    figure, box = spec.figure_data("timeline"), spec.figure("timeline").bounding_box()
    assert box and box["y"] + figure["layout"]["margin"]["t"] + 100 < 900
    # A click on a token opens its verification.
    at, place = spec.click_token("rejected", 1)
    expect(spec.token).to_contain_text(f"Round {at + 1}, position {place + 1}")
    expect(spec.figure("verification")).to_contain_text(f"Round {at + 1}, position {place + 1}")
    spec.expect_ring(at, place)
    expect(page).to_have_url(re.compile(rf"token={at}\.{place}"))
    page.get_by_role("button", name="Show the replacement").click()
    expect(page).to_have_url(re.compile(rf"token={at}\.own"))
    expect(spec.selected).to_have_class(re.compile("recovered"))
    spec.tokens.first.click()
    expect(spec.token).to_contain_text("Round 1, position 1")
    spec.expect_ring(0, 0)
    # The slider shows chart and text up to a round.
    early = sum(len(step.token_ids) for step in rounds[:2])
    expect(spec.cover).to_be_hidden()
    spec.slider.fill("2")
    expect(spec.cover).to_be_visible()
    expect(page.locator(".play output")).to_have_text("rounds up to 2")
    expect(spec.tokens.nth(early - 1)).to_be_visible()
    expect(spec.tokens.nth(early)).to_be_hidden()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(spec.cover).to_be_hidden()
    expect(spec.tokens.last).to_be_visible()
    # Nothing but the click on Run takes the field's number over, the nearest in range.
    field = page.locator(".st-key-draft_length input")
    spec.set_number("spec_tokens", 14)
    spec.set_number("draft_length", 50)
    expect(field).to_have_value("16")
    field.fill("0")
    spec.run_button.click()
    expect(field).to_have_value("1")
    expect(page).to_have_url(re.compile("draft_length=1(&|$)"))
    expect(spec.status).to_contain_text("Your run · 14 tokens in")
    assert page.troubles == []  # type: ignore[attr-defined]


def test_on_a_phone_the_figures_fit_into_their_cards(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    spec = SpecPage(page, server).open(**{"spec-look": "feed"})
    # It is laid out for this width: a wider drawing would have its vertical tokens in wide cells.
    feed = spec.drawn("feed").bounding_box()
    assert feed and feed["width"] <= 370
    card = page.locator(".st-key-three-proof")
    figure = card.locator(".js-plotly-plot .main-svg").first
    figure.scroll_into_view_if_needed()
    edges = card.evaluate("e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]")
    parts = card.locator("[data-testid=stNumberInputContainer], .infolayer text")
    boxes = parts.evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    assert len(boxes) > 8
    assert all(edges[0] <= box["left"] and box["right"] <= edges[1] for box in boxes)
    texts = figure.bounding_box()
    assert texts and texts["width"] >= edges[1] - edges[0] - 4


# In px: where the rule's row begins and the least height of the text, of every frame of a run.
_WATCH = """() => {
  window.seen = []
  const look = () => {
    const rule = document.querySelector('.st-key-spec-rule')
    const text = document.querySelector('.st-key-text-panel')
    if (rule && text) {
      const top = rule.getBoundingClientRect().top
      window.seen.push([Math.round(top), text.getBoundingClientRect().height])
    }
    requestAnimationFrame(look)
  }
  look()
}"""
_TOPS = """() => [...document.querySelectorAll("[class*='st-key-status-'] button")]
  .map((button) => Math.round(button.getBoundingClientRect().top / 8))"""


@pytest.mark.parametrize("width", [1280, 400])
def test_controls_and_text_keep_their_place_during_a_run(
    page: Page, server: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    spec = SpecPage(page, server).open(tree="3.2.1", spec_tokens=24)
    if width == 1280:
        draft, run = page.locator(".st-key-draft"), spec.run_button
        where = [box["y"] for box in (draft.bounding_box(), run.bounding_box()) if box]
        assert where[0] == pytest.approx(where[1], abs=2)
    page.evaluate(_WATCH)
    spec.run()
    # The proof and the menus, that of earlier runs too, are in one line.
    expect(page.locator(".st-key-earlier_runs button")).to_be_visible()
    assert len(set(page.evaluate(_TOPS))) == 1
    seen = page.evaluate("() => window.seen")
    assert len({top for top, _ in seen}) == 1
    assert min(height for _, height in seen) > 340
