"""A GGUF file typed into the picker is converted, decodes, and its cache can be emptied."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.models.gguf.files import write_gguf

pytestmark = pytest.mark.browser

PATIENCE_MS = 120_000  # The page, the reader of strangers' files and the conversion start.


def test_a_gguf_file_is_picked_and_decodes(page: Page, server: str, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "small.gguf", "Q8_0")
    page.goto(f"{server}/?prompt={quote('the fox')}&tokens=8")
    picker = page.locator(".st-key-model input")
    expect(picker).to_have_value("embedded:target", timeout=PATIENCE_MS)
    picker.fill(str(file))
    picker.press("Enter")
    expect(page).to_have_url(re.compile(r"small\.gguf"), timeout=PATIENCE_MS)
    page.get_by_role("button", name="Run", exact=True).click()
    status = page.locator(".st-key-status-finished")
    expect(status).to_contain_text("Your run", timeout=PATIENCE_MS)
    cache = page.locator(".st-key-gguf-cache")
    expect(cache).to_contain_text("GGUF cache: 1 model, ")
    cache.get_by_role("button", name="Empty").click()
    expect(cache).to_have_count(0)
