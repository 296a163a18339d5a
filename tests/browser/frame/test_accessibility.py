"""WCAG 2.1 AA as far as a program can tell: axe, names and order, reflow, spacing, keyboard."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.ui.registry import PAGES
from pages.ui.registry import Page as Row
from tests.browser.awaiting import stand_still
from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
# Spaces that a reader may ask for (WCAG 1.4.12).
SPACING = """:not(svg, svg *) {
  line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important;
}
p { margin-bottom: 2em !important; }"""


OFTEN = ("home", "decode", "sampling", "speculative", "compare", "course")


def rows() -> list[object]:
    return [
        pytest.param(row, id=row.name, marks=() if row.name in OFTEN else pytest.mark.slow)
        for row in PAGES
    ]


def violations(page: Page) -> list[str]:
    """Return what axe finds: its rule, and each element."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("row", rows())
def test_axe_finds_nothing_and_a_page_reflows_at_320_px_with_wide_spacing(
    page: Page, server: str, row: Row
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{server}/{row.path}")
    stand_still(page)
    assert violations(page) == []
    # The page has one main part with one title, and every figure a description.
    assert page.evaluate("() => document.documentElement.lang") == "en"
    expect(page.get_by_role("main")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    names = page.locator(".chart:visible").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert all(len(name or "") > 20 for name in names), names
    page.set_viewport_size({"width": 320, "height": 640})
    page.add_style_tag(content=SPACING)
    stand_still(page)
    wide = page.evaluate(
        "() => [document.querySelector('[data-testid=stMain]'), document.documentElement]"
        ".map(one => one.scrollWidth - one.clientWidth)"
    )
    assert wide == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows())
def test_axe_finds_nothing_on_a_phone_in_the_dark(page: Page, server: str, row: Row) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.goto(f"{server}/{row.path}")
    stand_still(page)
    assert violations(page) == []


def test_a_figure_s_numbers_open_as_a_table_by_keyboard(page: Page, server: str) -> None:
    decode = DecodePage(page, server).open()
    decode.figure("candidates").get_by_role("button", name="Export").focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("button", name="Table", exact=True)
    expect(table).to_be_visible()
    table.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog").filter(has=page.get_by_role("table"))
    expect(dialog.get_by_role("columnheader").first).to_be_visible()
    assert dialog.get_by_role("row").count() > 5
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_screen_reader_meets_a_page_in_the_order_of_its_sense(page: Page, server: str) -> None:
    page.goto(f"{server}/decode")
    stand_still(page)
    expect(page.get_by_role("heading", name="What to notice")).to_be_visible()
    expect(page.get_by_role("figure").first).to_be_visible()
    tree = page.get_by_role("main").aria_snapshot()
    places = [tree.index(words) for words in ('heading "Decode"', "What to notice", 'figure "')]
    assert places == sorted(places)
    assert "navigation" in page.locator("body").aria_snapshot()


def test_nothing_moves_for_those_who_asked_for_less_motion(page: Page, server: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{server}/beam")
    stand_still(page)
    # Those that follow a scroll bar move with the reader alone; a change of colour ends by itself.
    moving = (
        "one => one.timeline === document.timeline"
        " && one.effect.getTiming().iterations === Infinity"
    )
    assert page.evaluate(f"() => document.getAnimations().filter({moving}).length") == 0


def test_keys_of_one_character_can_be_switched_off(page: Page, server: str) -> None:
    decode = DecodePage(page, server).open()
    stand_still(page)
    page.locator("body").press("?")
    words = page.get_by_role("dialog", name="Words")
    words.get_by_role("checkbox", name="The keys ? and U act anywhere").uncheck()
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    step = decode.step_number()
    page.locator("body").press("?")
    page.locator("body").press("u")
    page.locator("body").press("ArrowRight")
    decode.expect_step(step + 1)
    expect(words).to_be_hidden()
    page.reload()
    stand_still(page)
    page.locator("body").press("?")
    expect(words).to_be_hidden()
