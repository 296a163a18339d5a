"""Home as a user meets it: the tree and the table open runs; the keyboard; Back; an own file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_page import AppPage

pytestmark = pytest.mark.browser
TRACES = Path(__file__).parents[3] / "assets/traces"


class HomePage(AppPage):
    """Actions on Home."""

    HEADING = "See how a language model chooses its words"
    FIRST = "methods"

    def row(self, name: str):  # type: ignore[no-untyped-def]
        return self.page.get_by_role("button", name=re.compile(f"^{name}: open this run on"))


def test_runs_are_made_with_the_keyboard_and_open_on_their_pages(page: Page, server: str) -> None:
    home = HomePage(page, server).open()
    expect(page.get_by_text("6 runs of one prompt gave 5 different texts")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(7)
    expect(page.get_by_role("columnheader")).to_have_count(6)
    home.set_number("home_tokens", 8)
    field = page.locator(".st-key-prompt textarea")
    field.fill("A list of colors:")
    field.press("Control+Enter")
    expect(page.get_by_text("Your runs · embedded:target · at most 8 tokens")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/\?(?=.*home=1)(?=.*made=1).*home_tokens=8"))
    address = page.url
    text = page.get_by_role("row").nth(5).get_by_role("cell").nth(1).inner_text()
    # By Tab and Enter; the page of the method shows the run with its controls.
    home.row("Beam search").focus()
    page.keyboard.press("Tab")
    expect(home.row("Speculative")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/beam\?.*beam_tokens=8"))
    expect(page.get_by_role("heading", name="Beam search", exact=True)).to_be_visible()
    expect(page.locator(".st-key-beam-text")).to_contain_text(text.strip())
    page.go_back()
    home.expect_open()
    expect(page).to_have_url(re.compile("made=1"))
    expect(page.get_by_text("Your runs · embedded:target")).to_be_visible()
    # The link makes the same runs for somebody else, and stays on Home.
    home.open_as_another(address)
    home.expect_open()
    expect(page.get_by_text("Your runs · embedded:target · at most 8 tokens")).to_be_visible()
    assert page.get_by_role("row").nth(5).get_by_role("cell").nth(1).inner_text() == text
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_cell_of_the_tree_opens_its_run_and_a_file_its_page(page: Page, server: str) -> None:
    home = HomePage(page, server).open()
    box = home.drawn("methods").bounding_box()
    assert box
    # The lowest lane is the last of the dice.
    bar = home.figure("methods").locator(".bars .point path").last
    bar.click(force=True)
    expect(page.get_by_role("heading", name="Decode", exact=True)).to_be_visible()
    expect(page.locator("[class*='st-key-status-finished']")).to_contain_text("Example")
    page.get_by_role("link", name="Home", exact=True).first.click()
    home.expect_open()
    page.get_by_role("button", name="Open your own trace").click()
    files = page.locator(".st-key-home_trace_file input[type=file]")
    files.set_input_files(TRACES / "speculative.json")
    expect(page.get_by_role("heading", name="Speculative decoding", exact=True)).to_be_visible()
    expect(page.locator("[class*='st-key-status-finished']")).to_contain_text("From a file")
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_phone_shows_the_tree_without_a_scroll_to_the_side(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    home = HomePage(page, server).open()
    expect(home.row("Greedy")).to_be_visible()
    width = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= 400
    page.get_by_role("link", name="Open the course").click()
    expect(page).to_have_url(f"{server}/course")
