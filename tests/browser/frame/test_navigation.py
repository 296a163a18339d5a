"""Between the pages: by tabs, by the browser's Back, after a reload; and their glossary."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.app_page import choose_language
from tests.browser.decode_page import DecodePage
from tests.browser.spec_page import SpecPage

pytestmark = pytest.mark.browser

ASKED = {"seed": "9", "spec_tokens": "12", "draft_length": "3", "run": "1", "temperature": "0.5"}
SAYS = """wanted => {
  const said = new URLSearchParams(location.search)
  said.sort()
  return said.toString() === wanted
}"""


def expect_told(page: Page, wanted: dict[str, str]) -> None:
    """Wait until the address says just this: shared knobs write theirs once they are drawn."""
    page.wait_for_function(SAYS, arg=urlencode(sorted(wanted.items())))


def go(page: Page, tab: str, path: str) -> None:
    page.get_by_role("link", name=tab).click()
    expect(page).to_have_url(re.compile(rf"/{path}(\?|$)"))


def test_an_old_link_to_decode_opens_it_with_its_query_and_back_leaves_it(
    page: Page, server: str
) -> None:
    """Decode had the address that Home has now."""
    page.goto(f"{server}/requests")
    expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
    page.goto(f"{server}/?{urlencode({'prompt': 'The cat & the hat', 'tokens': 7, 'run': 1})}")
    decode = DecodePage(page, server).expect_open()
    expect(page).to_have_url(re.compile(r"/decode\?.*tokens=7"))
    expect(decode.status).to_contain_text("Your run · 7 tokens")
    expect(page.locator(".st-key-prompt textarea")).to_have_value("The cat & the hat")
    page.go_back()  # The old address is no entry of the history.
    expect(page).to_have_url(f"{server}/requests")
    expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
    page.go_forward()
    expect(page).to_have_url(re.compile(r"/decode\?.*tokens=7"))
    expect(decode.status).to_contain_text("7 tokens")


def test_back_and_the_tabs_bring_a_page_s_address_back(page: Page, server: str) -> None:
    missing: list[str] = []

    def on_response(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", on_response)
    spec = SpecPage(page, server).open(**ASKED)
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    page.remove_listener("response", on_response)
    # A page's own address is not where its server is looked for.
    assert missing == []
    tokens = spec.tokens.all_text_contents()
    # The seed acts on every page.
    go(page, "Beam search", "beam")
    spec.set_number("beams", 3)
    expect(page).to_have_url(re.compile("beams=3"))
    expect(spec.drawn("beam-tree")).to_be_visible()
    expect_told(page, {"seed": "9", "beams": "3"})
    # Of a change and a turn to another page in one moment Streamlit takes the turn alone.
    expect(page.locator(".st-key-note-changed")).to_contain_text("Beams")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/speculative\?.*temperature=0.5"))
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect_told(page, ASKED)
    expect(page.locator(".st-key-draft_length input")).to_have_value("3")
    go(page, "Beam search", "beam")
    expect(page).to_have_url(re.compile("beams=3"))
    expect_told(page, {"seed": "9", "beams": "3"})
    # Back after a reload finds the run again.
    page.reload()
    expect(page.locator(".st-key-beam-text")).to_be_visible()
    page.go_back()
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_text(tokens, use_inner_text=False)
    expect_told(page, ASKED)


def test_a_marked_word_opens_its_entry_and_escape_closes_it(page: Page, server: str) -> None:
    DecodePage(page, server).open()
    word = page.locator(".st-key-intro").get_by_role("link", name="vocabulary")
    entry = page.get_by_role("tooltip")
    expect(word).to_be_visible()
    expect(page.get_by_role("button", name="Words")).to_be_visible()
    # A pointer.
    word.hover()
    expect(entry).to_contain_text("All tokens that a model knows")
    expect(word).to_have_attribute("aria-describedby", "de-entry")
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    # The keyboard.
    page.mouse.move(5, 400)
    page.locator(".st-key-intro a").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(entry).to_be_visible()
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    page.keyboard.press("Enter")
    expect(entry).to_be_visible()
    # The list opens at the word.
    page.keyboard.press("?")
    expect(page.locator(".de-glossary")).to_be_visible()
    expect(page.locator(".de-glossary .at")).to_be_in_viewport()
    expect(page.locator(".de-glossary .at")).to_have_text("token")
    page.keyboard.press("Escape")
    expect(page.locator(".de-glossary")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("#"))
    assert page.troubles == []  # type: ignore[attr-defined]


def test_the_entry_stays_inside_a_phone_s_window(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    DecodePage(page, server).open()
    word, entry = page.locator(".st-key-intro a").last, page.get_by_role("tooltip")
    expect(page.get_by_role("button", name="Words")).to_be_visible()
    word.click()
    expect(entry).to_be_visible()
    box = entry.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 400
    page.locator("h1").click()
    expect(entry).to_be_hidden()


def test_a_chosen_language_stays_after_a_reload_and_in_a_new_tab(page: Page, server: str) -> None:
    page.goto(f"{server}/course?lang=ja")
    expect(page.get_by_role("heading", name="コース", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    page.goto(f"{server}/class")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    choose_language(page, "한국어")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    other = page.context.new_page()
    other.goto(f"{server}/course")
    expect(other.get_by_role("heading", name="코스", exact=True)).to_be_visible()
