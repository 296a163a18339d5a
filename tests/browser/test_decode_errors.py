"""What goes wrong has a designed state, and untrusted text stays text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser

HOSTILE = (
    '<img src=x onerror="window.__hit=1;alert(1)"><script>window.__hit=2</script> **b** $x$ '
    "%{meta.caption}"
)


@pytest.fixture
def decode(page: Page, server: str) -> DecodePage:
    return DecodePage(page, server)


def expect_no_harm(decode: DecodePage) -> None:
    assert decode.page.evaluate("window.__hit") is None
    assert decode.page.locator("img[src='x']").count() == 0
    assert decode.page.troubles == []  # type: ignore[attr-defined]


def test_no_trace_no_or_too_long_a_prompt_and_no_model_each_get_a_sentence(
    decode: DecodePage, tmp_path: Path
) -> None:
    decode.open()
    path = tmp_path / "other.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    decode.open_trace(path)
    expect(decode.failure).to_contain_text("no trace file")
    expect(decode.status).to_contain_text("Example")
    decode.page.keyboard.press("Escape")
    decode.write_prompt("")
    expect(decode.failure).to_contain_text("The prompt is empty")
    expect(decode.status).to_contain_text("Example")
    decode.write_prompt("once upon a time " * 400)
    expect(decode.failure).to_contain_text(re.compile(r"context window holds \d+"))
    expect(decode.run_button).to_be_visible()
    # A model that doesn't exist is named.
    decode.page.locator(".st-key-model input").fill("/no/such/folder")
    decode.page.keyboard.press("Enter")
    expect(decode.page).to_have_url(re.compile("model=%2Fno%2Fsuch%2Ffolder"))
    decode.write_prompt("once upon a time")
    expect(decode.failure).to_contain_text("/no/such/folder")
    expect(decode.run_button).to_be_visible()


def test_a_link_does_not_load_a_stranger_s_model(decode: DecodePage) -> None:
    decode.open(model="stranger/model", run=1)
    expect(decode.failure).to_contain_text("Press Run")
    expect(decode.run_button).to_be_visible()


def test_markup_in_a_prompt_and_in_a_trace_file_stays_text(
    decode: DecodePage, tmp_path: Path
) -> None:
    decode.open(prompt=HOSTILE, tokens=6)
    decode.run()
    expect(decode.page.locator(".st-key-strip .prompt")).to_have_text(HOSTILE)
    decode.page.get_by_role("tab", name="Reading the prompt").click()
    expect(decode.drawn("prompt")).to_be_visible()
    expect_no_harm(decode)
    root = Path(__file__).parents[2]
    data = json.loads((root / "assets/traces/decode.json").read_text(encoding="utf-8"))
    data["prompt"] = data["rendered_prompt"] = HOSTILE
    data["model_id"] = HOSTILE
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
    expect_no_harm(decode)
