"""The Sampling lab as a user meets it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

PATIENCE_MS = 30_000
CHARTS = ("stages", "draw", "flips", "rolls")


class SamplingPage:
    """What one does on the page, and what one reads off it."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server

    def open(self, **parameters: object) -> SamplingPage:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/sampling{query}")
        self.expect_open()
        return self

    def expect_open(self) -> None:
        heading = self.page.get_by_role("heading", name="Sampling lab", exact=True)
        expect(heading).to_be_visible(timeout=PATIENCE_MS)

    @property
    def outcome(self) -> Locator:
        return self.page.locator(".st-key-lab-outcome")

    @property
    def failure(self) -> Locator:
        return self.page.locator(".st-key-failure")

    @property
    def text_before(self) -> Locator:
        return self.page.locator(".st-key-lab-step [data-testid=stText]").first

    def set_number(self, key: str, value: object) -> None:
        field = self.page.locator(f".st-key-{key} input")
        field.fill(str(value))
        field.press("Enter")

    def choose(self, words: str) -> None:
        """Press a segment of one of the segmented controls."""
        self.page.get_by_test_id("stButtonGroup").get_by_text(words, exact=True).click()

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

    def wait_for_caption(self, name: str, part: str) -> None:
        """Wait until a figure's caption tells of a setting."""
        self.page.wait_for_function(
            "([name, part]) => document.querySelector(`.st-key-figure-${name} .js-plotly-plot`)"
            "?.layout?.meta?.caption?.includes(part)",
            arg=[name, part],
            timeout=PATIENCE_MS,
        )

    def caption(self, name: str) -> str:
        return str(self.figure_data(name)["layout"]["meta"]["caption"])
