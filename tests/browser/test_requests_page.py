"""The Requests page in a browser: a client's request is there within a second of its sending."""

from __future__ import annotations

import httpx2
import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
# The page looks every 0.4 s; a browser that shares two busy cores draws later.
LISTED_MS = 15_000
BODY = {"model": "embedded:target", "prompt": "Once upon a time", "max_tokens": 30, "seed": 3}


def test_a_clients_request_appears_and_is_opened(server: str, page: Page) -> None:
    # The first request of a server loads the model.
    once = {**BODY, "max_tokens": 1}
    before = httpx2.post(f"{server}/v1/completions", json=once, timeout=120).json()
    page.goto(f"{server}/requests")
    expect(page.locator(f".st-key-request-{before['id']} button")).to_be_visible(timeout=120_000)
    made = httpx2.post(f"{server}/v1/completions", json=BODY, timeout=60).json()
    listed = page.locator(f".st-key-request-{made['id']} button")
    expect(listed).to_be_visible(timeout=LISTED_MS)
    expect(page.locator(".st-key-text-panel .tokens")).to_contain_text(
        made["choices"][0]["text"].strip().split()[0], timeout=20_000
    )
    expect(page.locator(".st-key-figure-requests-heatmap")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Consistent")).to_be_visible(timeout=20_000)
