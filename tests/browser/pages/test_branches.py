"""Another token on the Decode page in a real browser: taken, shown, linked, and gone back from."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser


def test_a_token_is_exchanged_the_tree_leads_back_and_the_link_makes_the_run_again(
    page: Page, server: str
) -> None:
    decode = DecodePage(page, server).open(tokens=16)
    decode.run()
    decode.tokens.nth(5).click()
    decode.expect_selected(5)
    before = decode.tokens.all_inner_texts()
    page.get_by_role("button", name="Another token").click()
    page.get_by_label("or type a text").fill(" boy")
    page.get_by_label("or type a text").press("Tab")
    page.get_by_role("button", name="Go on with this one").click()
    expect(decode.tokens.nth(5)).to_have_text(" boy")
    decode.expect_selected(5)
    expect(decode.tokens.nth(5)).to_have_class(re.compile("forced"))
    expect(decode.tokens.nth(5)).to_have_attribute("title", re.compile("the model picked .*rank"))
    after = decode.tokens.all_inner_texts()
    assert after[:5] == before[:5] and after != before
    page.get_by_role("tab", name="Branches").click()
    expect(decode.drawn("branches")).to_be_visible()
    expect(page).to_have_url(re.compile(r"given=[0-9.]+"))
    address = page.url
    page.locator(".st-key-branch_0 button").click()
    expect(decode.tokens).to_have_text(before)
    expect(page).not_to_have_url(re.compile("given="))
    decode.open_as_another(address)
    expect(decode.tokens).to_have_text(after)
    expect(decode.tokens.nth(5)).to_have_class(re.compile("forced"))
    assert page.troubles == []  # type: ignore[attr-defined]
