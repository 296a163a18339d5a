"""A GGUF file typed into the picker is converted, decodes, and its cache can be emptied."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage
from tests.models.gguf.files import write_gguf

pytestmark = pytest.mark.browser

WAIT_MS = 120_000  # The first chart; the reader of strangers' files starts and converts.


def test_a_gguf_file_is_picked_and_decodes(page: Page, server: str, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "small.gguf", "Q8_0")
    app = DecodePage(page, server).open(prompt="the fox", tokens=8)
    page.locator(".js-plotly-plot").first.wait_for(timeout=WAIT_MS)
    picker = page.locator(".st-key-model input")
    picker.fill(str(file), timeout=WAIT_MS)
    picker.press("Enter", timeout=WAIT_MS)
    expect(page).to_have_url(re.compile(r"small\.gguf"), timeout=WAIT_MS)
    app.run_button.click(timeout=WAIT_MS)
    expect(app.status).to_contain_text("Your run", timeout=WAIT_MS)
    cache = page.locator(".st-key-gguf-cache")
    expect(cache).to_contain_text("GGUF cache: 1 model, ")
    cache.get_by_role("button", name="Empty").click()
    expect(cache).to_have_count(0)
