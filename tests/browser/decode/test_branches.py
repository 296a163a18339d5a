"""Another token on the Decode page in a real browser: taken, shown, linked, and gone back from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser


def go_on_with(decode: DecodePage, at: int, text: str) -> None:
    """Type a text at a step and go on from there."""
    page = decode.page
    decode.tokens.nth(at).click()
    decode.expect_selected(at)
    page.get_by_role("button", name="Another token").click()
    field = page.get_by_role("textbox", name="or type a text")
    field.fill(text)
    field.press("Tab")
    page.get_by_role("button", name="Go on from here").click()
    expect(decode.tokens.nth(at)).to_have_text(text)
    decode.expect_selected(at)


def test_a_token_is_exchanged_the_tree_leads_back_and_the_link_makes_the_run_again(
    page: Page, server: str
) -> None:
    decode = DecodePage(page, server).open(tokens=16)
    decode.run()
    before = decode.tokens.all_inner_texts()
    go_on_with(decode, 5, " boy")
    expect(decode.tokens.nth(5)).to_have_class(re.compile("forced"))
    expect(decode.tokens.nth(5)).to_have_attribute("title", re.compile("the pick was"))
    after = decode.tokens.all_inner_texts()
    assert after[:5] == before[:5] and after != before
    expect(page).to_have_url(re.compile(r"given=[0-9.]+"))
    address = page.url
    page.get_by_role("tab", name="Branches").click()
    expect(decode.drawn("branches")).to_be_visible()
    rows = page.get_by_role("listbox", name="Runs of the tree").get_by_role("option")
    expect(rows).to_have_count(2)
    rows.nth(1).focus()
    rows.nth(1).press("ArrowUp")
    expect(rows.nth(0)).to_be_focused()
    rows.nth(0).press("Enter")
    expect(decode.tokens).to_have_text(before)
    expect(page).not_to_have_url(re.compile("given="))
    decode.open_as_another(address)
    expect(decode.tokens).to_have_text(after)
    expect(decode.tokens.nth(5)).to_have_class(re.compile("forced"))
    assert page.troubles == []  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_tree_is_named_pruned_saved_and_opened_again(
    page: Page, server: str, tmp_path: Path
) -> None:
    decode = DecodePage(page, server).open(tokens=12)
    decode.run()
    go_on_with(decode, 4, " boy")
    go_on_with(decode, 8, " home")
    page.get_by_role("tab", name="Branches").click()
    rows = page.get_by_role("listbox", name="Runs of the tree").get_by_role("option")
    expect(rows).to_have_count(3)
    name = page.get_by_role("textbox", name="Name of the shown run")
    name.fill("The <i>end</i>")
    name.press("Enter")
    expect(rows.nth(2)).to_contain_text("The <i>end</i>")
    expect(decode.drawn("branches")).to_contain_text("The <i>end")
    saved, file = decode.download("Tree file (JSON)")
    assert saved.startswith("tree")
    shown = decode.tokens.all_inner_texts()
    page.get_by_role("button", name="Remove run").click()
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    (tmp_path / "tree.json").write_bytes(file)
    decode.open_as_another(f"{server}/decode")
    decode.expect_open().open_trace(tmp_path / "tree.json")
    expect(decode.status).to_contain_text("From a file")
    page.get_by_role("tab", name="Branches").click()
    expect(rows).to_have_count(3)
    rows.nth(2).click()
    expect(decode.tokens).to_have_text(shown)
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_pressed_bar_chooses_its_candidate(page: Page, server: str) -> None:
    decode = DecodePage(page, server).open(tokens=8)
    decode.run()
    decode.tokens.nth(4).click()
    decode.expect_selected(4)
    expect(decode.figure("candidates")).to_contain_text("Candidates at step 5")
    # The chart of another step than the page's own may still be replaced by the server's.
    expect(decode.step_head).to_contain_text("Step 5 of")
    points = decode.figure("candidates").locator(".bars .point path")
    points.nth(4 if points.count() > 4 else 0).click(force=True)
    page.get_by_role("button", name="Go on with this one").click()
    expect(decode.tokens.nth(4)).to_have_class(re.compile("forced"))
    decode.expect_selected(4)
    assert page.troubles == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(("width", "height", "low"), [(400, 800, 100), (1280, 720, 120)])
def test_the_menu_of_a_button_low_in_the_window_has_its_height(
    page: Page, server: str, width: int, height: int, low: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    decode = DecodePage(page, server).open()
    expect(decode.drawn("uncertainty")).to_be_attached()
    button = page.get_by_role("button", name="Another token")
    button.evaluate(
        """(button, top) => document.querySelector("[data-testid=stMain]")
        .scrollBy(0, button.getBoundingClientRect().top - top)""",
        height - low,
    )
    button.click()
    menu = page.get_by_test_id("stPopoverBody")
    expect(menu.get_by_role("button", name="Go on with this one")).to_be_in_viewport()
    box = menu.bounding_box()
    assert box is not None and box["height"] > 300 and box["y"] + box["height"] <= height
    assert decode.page.troubles == []  # type: ignore[attr-defined]


def test_the_status_and_the_note_of_a_step_are_one_line_at_1280_px(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    decode = DecodePage(page, server).open(tokens=16)
    decode.run()
    for words in (re.compile(r"^Your run\s· 16 tokens"), "Knobs reshape this step."):
        text = page.get_by_test_id("stMainBlockContainer").get_by_text(words)
        expect(text).to_be_visible()
        lines = text.evaluate(
            """(node) => {
              const range = document.createRange()
              range.selectNodeContents(node)
              return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size
            }"""
        )
        assert lines == 1, words
