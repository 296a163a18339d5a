"""The speculative page in a browser: clicks, play, measurements, export, links."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from core.decoding.trace import Trace
from tests.browser.spec_page import SpecPage

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[2] / "assets" / "traces" / "speculative.json"


@pytest.fixture
def spec(page: Page, server: str) -> SpecPage:
    return SpecPage(page, server).open()


def test_the_example_stands_in_full_is_clicked_played_and_leaves(spec: SpecPage) -> None:
    example = Trace.load(EXAMPLE)
    expect(spec.tokens).to_have_count(len(example.token_ids))
    assert spec.text() == example.text
    figure = spec.figure_data("timeline")
    drawn = sum(len(bars.get("customdata") or ()) for bars in figure["data"])
    tokens = sum(len(step.drafted) + (step.extra is not None) for step in example.rounds)
    assert drawn == tokens
    box = spec.figure("timeline").bounding_box()
    assert box and box["y"] + figure["layout"]["margin"]["t"] + 100 < 900
    # A click on a token opens its verification.
    at, place = spec.click_token("rejected", 1)
    expect(spec.token).to_contain_text(f"Round {at + 1}, position {place + 1}")
    expect(spec.token).to_contain_text("accept")
    expect(spec.figure("verification")).to_contain_text(f"Round {at + 1}, position {place + 1}")
    spec.expect_ring(at, place)
    expect(spec.page).to_have_url(re.compile(rf"token={at}\.{place}"))
    spec.page.get_by_role("button", name="Show what took its place").click()
    expect(spec.token).to_contain_text("recovered")
    expect(spec.page).to_have_url(re.compile(rf"token={at}\.own"))
    expect(spec.selected).to_have_class(re.compile("recovered"))
    spec.tokens.nth(0).click()
    expect(spec.token).to_contain_text("Round 1, position 1")
    spec.expect_ring(0, 0)
    assert spec.page.troubles == []  # type: ignore[attr-defined]
    # The slider shows chart and text up to a round.
    early = sum(len(step.token_ids) for step in example.rounds[:2])
    expect(spec.cover).to_be_hidden()
    spec.slider.fill("2")
    expect(spec.cover).to_be_visible()
    expect(spec.page.locator(".play output")).to_have_text("rounds up to 2")
    expect(spec.tokens.nth(early - 1)).to_be_visible()
    expect(spec.tokens.nth(early)).to_be_hidden()
    spec.page.get_by_role("button", name="Play", exact=True).click()
    expect(spec.cover).to_be_hidden()
    expect(spec.tokens.last).to_be_visible()
    # The timeline leaves as SVG and CSV.
    spec.figure("timeline").get_by_role("button", name=re.compile("Export")).click()
    with spec.page.expect_download(timeout=120_000) as waiting:
        spec.page.get_by_role("button", name="SVG", exact=True).click()
    texts = " ".join(ElementTree.parse(waiting.value.path()).getroot().itertext())
    assert "Rounds and their drafted tokens" in texts
    assert "draft embedded:draft" in texts.replace("\u00a0", " ")
    with spec.page.expect_download(timeout=120_000) as waiting:
        spec.page.get_by_role("button", name="CSV", exact=True).click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    rounds = Trace.load(EXAMPLE).rounds
    assert len(lines) == 1 + sum(len(r.drafted) + (r.extra is not None) for r in rounds)
    assert "accept_prob" in lines[0]


def test_a_run_takes_the_nearest_number_in_range_and_its_link_makes_it_again(
    spec: SpecPage,
) -> None:
    field = spec.page.locator(".st-key-draft_length input")
    spec.set_number("draft_length", 50)
    expect(field).to_have_value("16")
    expect(spec.page).to_have_url(re.compile("draft_length=16"))
    field.fill("0")
    # Nothing but the click on Run takes the field's number over.
    spec.run_button.click()
    expect(field).to_have_value("1")
    expect(spec.page).to_have_url(re.compile("draft_length=1&|draft_length=1$"))
    expect(spec.status).to_contain_text("Your run")
    expect(spec.page.get_by_text("press Run")).to_have_count(0)
    field.hover()
    expect(field).to_have_attribute("title", "1 to 16")
    # Run decodes, and the link makes the same run.
    spec.set_number("draft_length", 3)
    spec.set_number("spec_tokens", 14)
    expect(spec.page).to_have_url(re.compile("spec_tokens=14"))
    expect(spec.page).to_have_url(re.compile("draft_length=3"))
    spec.run()
    expect(spec.status).to_contain_text("14 tokens in")
    expect(spec.tokens).to_have_count(14)
    found, address = spec.text(), spec.page.url
    assert "run=1" in address
    spec.open_as_another(address)
    expect(spec.status).to_contain_text("Your run · 14 tokens in")
    expect(spec.tokens).to_have_count(14)
    assert spec.text() == found


def test_greedy_speculation_is_proved_and_equals_the_target_alone(page: Page, server: str) -> None:
    spec = SpecPage(page, server).open(
        temperature=0, spec_tokens=16, **{"spec-look": "Losslessness"}
    )
    spec.run()
    # The target runs by itself as soon as the run is there.
    expect(spec.verdict).to_contain_text("Identical: all 16 tokens")
    page.get_by_role("button", name=re.compile("Consistent")).click()
    checks = page.locator("li.passed")
    expect(checks.first).to_be_visible()
    before = checks.count()
    page.get_by_role("button", name="Check against the model").click()
    expect(checks.nth(before)).to_be_visible()
    assert page.locator("li.failed").count() == 0


def test_times_are_judged_counting_stops_and_the_three_tokens_answer_at_once(
    page: Page, server: str
) -> None:
    spec = SpecPage(page, server).open(repeats=1, runs=5000, run_tokens=8)
    page.get_by_role("button", name="Measure against the target alone").click()
    expect(spec.verdict).to_contain_text("because a round emits")
    names = [bars["name"] for bars in spec.figure_data("time")["data"]]
    assert "Target only: target only" in names and "Speculative: verify" in names
    page.get_by_role("tab", name="Losslessness").click()
    page.locator(".st-key-start-counted button").click()
    counting = page.locator(".st-key-measure-counted")
    expect(counting).to_contain_text(re.compile(r"Run [\d,]+ of 5,000"))
    page.locator(".st-key-stop-counted button").click()
    expect(spec.verdict).to_contain_text("Acceptance rule speculative")
    expect(page.get_by_role("figure", name=re.compile("distribution exactly"))).to_be_visible()
    page.get_by_role("radio", name="Typical").click()
    expect(page.get_by_role("figure", name=re.compile("is not the target"))).to_be_visible()
    expect(page.locator(".st-key-rule-lossy")).to_contain_text("NOT")
    expect(page).to_have_url(re.compile("rule=Typical"))
    spec.set_number("target_A", "0.2")
    expect(page).to_have_url(re.compile("target_A=0.2"))


def test_an_impossible_number_in_the_address_is_left_out_and_the_page_stays(
    page: Page, server: str
) -> None:
    spec = SpecPage(page, server).open(temperature="nan", draft_length="inf", spec_tokens=30)
    expect(page).to_have_url(re.compile(r"/speculative\?spec_tokens=30$"))
    expect(page.locator(".st-key-draft_length input")).to_have_value("5")
    assert spec.failure.count() == 0
