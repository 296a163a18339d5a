"""A GGUF file that is typed into the picker is converted and decodes; its cache can be emptied."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser


def test_a_gguf_file_is_picked_and_decodes(page: Page, server: str, tmp_path: Path) -> None:
    # Only this test's process needs transformers.
    from tests.models.gguf.files import write_gguf

    file = write_gguf(tmp_path / "small.gguf", "Q8_0")
    app = DecodePage(page, server).open(prompt="the fox", tokens=8)
    picker = page.locator(".st-key-model input")
    picker.fill(str(file))
    picker.press("Enter")
    expect(page).to_have_url(re.compile(r"small\.gguf"))
    app.run()
    expect(app.tokens.first).to_be_visible()
    page.get_by_role("button", name="Cache").click()
    cache = page.locator(".st-key-gguf-cache")
    expect(cache).to_contain_text("GGUF cache: 1 model, ")
    cache.get_by_role("button", name="Empty").click()
    expect(cache).to_have_count(0)
