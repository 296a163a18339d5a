"""Between the pages: by the tabs, and by the browser's Back."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.spec_page import SpecPage

pytestmark = pytest.mark.browser

ASKED = {"seed": "9", "spec_tokens": "12", "draft_length": "3", "run": "1"}


def told(page: Page) -> dict[str, str]:
    return {name: said[-1] for name, said in parse_qs(urlsplit(page.url).query).items()}


def go(page: Page, tab: str, path: str) -> None:
    page.get_by_role("link", name=tab).click()
    expect(page).to_have_url(re.compile(rf"/{path}(\?|$)"))


def test_back_and_the_tabs_bring_a_page_s_address_back(page: Page, server: str) -> None:
    missing: list[str] = []

    def on_response(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", on_response)
    spec = SpecPage(page, server).open(**ASKED, temperature="0.5")
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    page.remove_listener("response", on_response)
    # A page's own address is not where its server is looked for.
    assert missing == []
    text = spec.text()
    go(page, "Beam search", "beam")
    spec.set_number("beams", 3)
    expect(page).to_have_url(re.compile("beams=3"))
    expect(spec.drawn("beam-tree")).to_be_visible()
    assert told(page) == {"seed": "9", "beams": "3"}
    page.go_back()
    expect(page).to_have_url(re.compile(r"/speculative\?.*temperature=0.5"))
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    assert told(page) == {**ASKED, "temperature": "0.5"}
    expect(page.locator(".st-key-draft_length input")).to_have_value("3")
    go(page, "Beam search", "beam")
    expect(page).to_have_url(re.compile("beams=3"))
    assert told(page) == {"seed": "9", "beams": "3"}
    go(page, "Speculative", "speculative")
    expect(page).to_have_url(re.compile("temperature=0.5"))
    assert told(page) == {**ASKED, "temperature": "0.5"}
    again = SpecPage(page.context.new_page(), server)
    again.page.goto(page.url)
    expect(again.status).to_contain_text("Your run · 12 tokens in")
    expect(again.tokens).to_have_count(12)
    assert again.text() == text


def test_back_after_a_reload_finds_the_run_again(page: Page, server: str) -> None:
    spec = SpecPage(page, server).open(**ASKED)
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    text = spec.text()
    go(page, "Beam search", "beam")
    page.reload()
    expect(page.locator(".st-key-beam-text")).to_be_visible()
    page.go_back()
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    assert spec.text() == text
    assert told(page) == ASKED
