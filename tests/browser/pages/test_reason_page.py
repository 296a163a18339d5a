"""Reasoning in a browser: a curve that sets the budget, a run, looks that fit a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reason_page import ReasonPage

pytestmark = pytest.mark.browser


def test_curve_and_level_set_another_budget_and_run_keeps_to_it(page: Page, server: str) -> None:
    reason = ReasonPage(page, server).open()
    expect(reason.drawn("stops")).to_be_visible()
    curve = next(t for t in reason.figure_data("accuracy")["data"] if t["name"] == "accuracy")
    # A click on the curve sets the budget.
    reason.figure("accuracy").locator(".trace.scatter .points path").nth(1).click(force=True)
    expect(page).to_have_url(re.compile(f"thinking={curve['x'][1]}"))
    expect(page.locator(".st-key-thinking input")).to_have_value(str(curve["x"][1]))
    # A lower level closes the thinking by force.
    expect(reason.piece("forced")).to_have_count(1)
    page.locator(".st-key-level").get_by_text("Low", exact=True).click()
    expect(page).to_have_url(re.compile("thinking=32"))
    expect(page.locator(".st-key-note-changed")).to_contain_text("Changed since this run")
    reason.run()
    expect(reason.piece("forced")).to_have_count(2)
    expect(reason.piece("forced").nth(1)).to_have_attribute("title", re.compile("budget is spent"))
    expect(reason.drawn("stops")).to_be_visible()
    assert reason.figure_data("stops")["data"][0]["customdata"][-1] == [32]
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
