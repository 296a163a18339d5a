"""Reasoning in a browser: a curve that sets the budget, a run, looks that fit a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reason_page import ReasonPage

pytestmark = pytest.mark.browser


# The last stop of the shown run is this budget.
LAST_STOP = """(budget) => {
  const chart = document.querySelector('.st-key-figure-stops .js-plotly-plot')
  return chart?.data?.[0].customdata.at(-1)?.[0] === budget
}"""


def test_curve_level_and_slider_set_another_budget_and_run_with_it(page: Page, server: str) -> None:
    reason = ReasonPage(page, server).open()
    expect(reason.drawn("stops")).to_be_visible()
    curve = next(t for t in reason.figure_data("accuracy")["data"] if t["name"] == "accuracy")
    # A click on the curve sets the budget.
    reason.figure("accuracy").locator(".trace.scatter .points path").nth(1).click(force=True)
    expect(page).to_have_url(re.compile(f"thinking={curve['x'][1]}"))
    expect(page.locator(".st-key-thinking input")).to_have_value(str(curve["x"][1]))
    expect(reason.status).to_contain_text("Your run")
    # A lower level closes the thinking by force; it runs at once.
    page.locator(".st-key-level").get_by_text("Low", exact=True).click()
    expect(page).to_have_url(re.compile("thinking=32"))
    expect(reason.piece("forced")).to_have_count(2)
    expect(reason.piece("forced").nth(1)).to_have_attribute("title", re.compile("budget is spent"))
    expect(reason.drawn("stops")).to_be_visible()
    page.wait_for_function(LAST_STOP, arg=32)
    # A slider runs when it is released.
    slider = page.get_by_role("slider", name="Thinking budget")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(reason.status).to_contain_text("Your run")
    expect(page).to_have_url(re.compile("thinking=34"))
    expect(page.locator(".st-key-note-plain")).to_contain_text("of 34 thinking tokens")
    assert page.troubles == []  # type: ignore[attr-defined]


def test_the_other_looks_fit_a_phone(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    reason = ReasonPage(page, server).open(reason_look="rivals")
    expect(page.locator(".st-key-vote-rows")).to_contain_text("of 8 samples")
    for tab, shown in (
        ("Reasoning levels", page.locator(".st-key-loop-bound")),
        ("Budget sweep", reason.drawn("difficulty")),
        ("Calculator", page.locator(".st-key-tool-1 .tokens .result").first),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(shown).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    assert page.troubles == []  # type: ignore[attr-defined]
