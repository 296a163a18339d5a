"""The Decode page as a user meets it."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

PATIENCE_MS = 30_000
CHARTS = ("heatmap", "candidates", "way", "uncertainty")


class DecodePage:
    """What one does on the page, and what one reads off it."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server

    def open(self, **parameters: object) -> DecodePage:
        query = f"/?{urlencode(parameters)}" if parameters else "/"
        self.page.goto(self.server + query)
        expect(self.page.get_by_role("heading", name="Decode", exact=True)).to_be_visible(
            timeout=PATIENCE_MS
        )
        return self

    @property
    def tokens(self) -> Locator:
        return self.page.locator(".st-key-strip .tokens button")

    @property
    def selected(self) -> Locator:
        return self.page.locator(".st-key-strip .tokens button[aria-current=true]")

    @property
    def run_button(self) -> Locator:
        return self.page.locator(".st-key-start button")

    @property
    def stop_button(self) -> Locator:
        return self.page.locator(".st-key-stop_run button")

    @property
    def status(self) -> Locator:
        return self.page.locator("[class*='st-key-status-'] [data-testid=stText]")

    @property
    def failure(self) -> Locator:
        return self.page.locator(".st-key-failure")

    @property
    def step_head(self) -> Locator:
        return self.page.locator(".st-key-step-head")

    def run(self) -> None:
        """Press Run and wait for the end."""
        self.run_button.click()
        expect(self.status).to_contain_text("Your run", timeout=PATIENCE_MS)
        expect(self.run_button).to_be_visible()

    def set_number(self, key: str, value: object) -> None:
        field = self.page.locator(f".st-key-{key} input")
        field.fill(str(value))
        field.press("Enter")

    def write_prompt(self, text: str) -> None:
        field = self.page.locator(".st-key-prompt textarea")
        field.fill(text)
        field.press("Control+Enter")

    def text(self) -> str:
        return "".join(self.tokens.all_text_contents())

    def figure(self, name: str) -> Locator:
        return self.page.locator(f".st-key-figure-{name}")

    def drawn(self, name: str) -> Locator:
        return self.figure(name).locator(".js-plotly-plot .main-svg").first

    def figure_data(self, name: str) -> dict[str, Any]:
        """The data and layout that Plotly draws, as plain values."""
        expect(self.drawn(name)).to_be_visible(timeout=PATIENCE_MS)
        script = """node => JSON.stringify({data: node.data, layout: node.layout},
            (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value)"""
        found: dict[str, Any] = json.loads(
            self.figure(name).locator(".js-plotly-plot").evaluate(script)
        )
        return found

    def step_number(self) -> int:
        """The number of the selected step."""
        match = re.search(r"Step (\d+)", self.step_head.inner_text())
        assert match
        return int(match[1])

    def expect_step(self, number: int) -> None:
        expect(self.step_head).to_contain_text(f"Step {number} /", timeout=PATIENCE_MS)
