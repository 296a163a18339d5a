"""Many runs in a browser: a cell of the grid opened on Decode, runs stopped, and a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_page import AppPage
from tests.browser.frame.test_layout import CUT, PHONE

pytestmark = pytest.mark.browser


class ManyPage(AppPage):
    """The page of many runs."""

    PATH, HEADING, FIRST = "many", "Many runs", "tree"


def test_a_cell_of_the_grid_shows_its_run_and_opens_it_on_decode(page: Page, server: str) -> None:
    many = ManyPage(page, server).open(many_mode="grid")
    run = page.locator(".st-key-many-run")
    expect(run).to_contain_text("Run 1: temperature 0.3; top-p 0.5")
    many.figure("grid").locator(".bars .point").nth(5).click(force=True)
    expect(run).to_contain_text("Run 6: temperature 0.8; top-p 1")
    expect(page).to_have_url(re.compile("pick=5"))
    many.open_as_another(page.url)
    expect(run).to_contain_text("Run 6: temperature 0.8; top-p 1")
    # By the keyboard too.
    page.get_by_label("Run", exact=True).press("ArrowDown")
    page.get_by_label("Run", exact=True).press("Enter")
    expect(run).to_contain_text("Run 5: temperature 0.8; top-p 0.9")
    page.get_by_role("button", name="Open on Decode").click()
    expect(page.get_by_role("heading", name="Decode", exact=True)).to_be_visible()
    expect(page.get_by_text("20 tokens").first).to_be_visible()
    assert page.troubles == []  # type: ignore[attr-defined]


def test_the_first_run_is_shown_while_others_go_on_and_a_stop_keeps_it(
    page: Page, server: str
) -> None:
    ManyPage(page, server).open(times=100, many_tokens=50, vary="nothing")
    page.locator(".st-key-start button").click()
    expect(page.get_by_text("Runs under way").first).to_be_visible()
    page.locator(".st-key-stop_run button").click()
    expect(page.get_by_text("Your runs ·")).to_be_visible()
    equal = page.get_by_text("Their recorded probabilities are equal to the last bit")
    expect(equal).to_be_visible()
    expect(page).to_have_url(re.compile("made=1"))
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_phone_has_all_controls_in_view_and_nothing_is_cut(page: Page, server: str) -> None:
    page.set_viewport_size(PHONE)
    many = ManyPage(page, server).open(many_mode="grid")
    for key in ("many_mode", "many_tokens", "values_a", "values_b", "start"):
        expect(page.locator(f".st-key-{key}").first).to_be_in_viewport()
    expect(many.drawn("grid")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(CUT) == []
