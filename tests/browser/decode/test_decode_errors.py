"""Untrusted text stays text, typed as a prompt and read from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser

HOSTILE = (
    '<img src=x onerror="window.__hit=1;alert(1)"><script>window.__hit=2</script> **b** $x$ '
    "%{meta.caption}"
)


def expect_no_harm(page: Page) -> None:
    assert page.evaluate("window.__hit") is None
    assert page.locator("img[src='x']").count() == 0
    assert page.troubles == []  # type: ignore[attr-defined]


def test_markup_in_a_prompt_and_in_a_trace_file_stays_text(
    page: Page, server: str, tmp_path: Path
) -> None:
    decode = DecodePage(page, server).open(prompt=HOSTILE, tokens=6)
    decode.run()
    prompt = page.locator(".st-key-strip .prompt")
    expect(prompt).to_have_text([HOSTILE])  # The strip of the run may still be leaving.
    page.get_by_role("tab", name="Prompt predictions").click()
    expect(decode.drawn("prompt")).to_be_visible()
    expect_no_harm(page)
    root = Path(__file__).parents[3]
    data = json.loads((root / "assets/traces/decode.json").read_text(encoding="utf-8"))
    data["prompt"] = data["rendered_prompt"] = data["model_id"] = HOSTILE
    for step in data["steps"]:
        if step["kind"] == "token":
            step["text"] = HOSTILE
            step["candidates"]["text"] = [HOSTILE for _ in step["candidates"]["text"]]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    decode.open_trace(path)
    expect(decode.status).to_contain_text("From a file")
    expect(decode.tokens.first).to_have_text(HOSTILE)
    expect(decode.drawn("candidates")).to_be_visible()
    expect_no_harm(page)
