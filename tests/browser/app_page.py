"""Page object with the parts that every page of the app has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

# A busy machine takes long to draw a chart; nothing waits longer than it has to.
PATIENCE_MS = 120_000


def choose_language(page: Page, name: str) -> None:
    """Choose a language in the sidebar's menu."""
    field = page.locator(".st-key-language-menu input")
    # A scroll closes an open menu, and the event of it comes with the next frame.
    field.scroll_into_view_if_needed()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    field.click()
    page.get_by_role("option", name=name).click()


class AppPage:
    """Actions on any page, and its contents as a user sees them."""

    PATH = ""
    HEADING = ""
    FIRST = ""  # The figure that the page is read by.

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server

    def open(self, **parameters: object) -> Self:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/{self.PATH}{query}")
        return self.expect_open()

    def expect_open(self) -> Self:
        expect(self.page.get_by_role("heading", name=self.HEADING, exact=True)).to_be_visible()
        if self.FIRST:
            expect(self.drawn(self.FIRST)).to_be_visible()
        return self

    def open_as_another(self, address: str) -> None:
        """Follow a link as somebody else would: a session of its own, and nothing stored."""
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        self.page.context.clear_cookies()
        self.page.goto(address)

    def set_number(self, key: str, value: object) -> None:
        field = self.page.locator(f".st-key-{key} input")
        field.fill(str(value))
        field.press("Enter")

    def write_prompt(self, text: str) -> None:
        field = self.page.locator(".st-key-prompt textarea")
        field.fill(text)
        field.press("Control+Enter")

    def open_trace(self, file: Path) -> None:
        """Open a file through the sidebar of the page that is shown."""
        self.page.get_by_text("Open a trace").click()
        self.page.locator(".st-key-trace_file").locator("input[type=file]").set_input_files(file)

    def figure(self, name: str) -> Locator:
        return self.page.locator(f".st-key-figure-{name}")

    def drawn(self, name: str) -> Locator:
        return self.figure(name).locator(".js-plotly-plot .main-svg").first

    def figure_data(self, name: str) -> dict[str, Any]:
        """The data and layout that Plotly draws, as plain values."""
        expect(self.drawn(name)).to_be_visible()
        script = """node => JSON.stringify({data: node.data, layout: node.layout},
            (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value)"""
        plot = self.figure(name).locator(".js-plotly-plot")
        expect(plot).to_have_count(1)  # The one before may still be leaving.
        data: dict[str, Any] = json.loads(plot.evaluate(script))
        return data

    def wait_for_caption(self, name: str, part: str) -> None:
        """Wait until a figure's caption tells of a setting."""
        self.page.wait_for_function(
            "([name, part]) => document.querySelector(`.st-key-figure-${name} .js-plotly-plot`)"
            "?.layout?.words?.caption?.includes(part)",
            arg=[name, part],
            timeout=PATIENCE_MS,
        )

    def open_export(self, name: str) -> None:
        expect(self.drawn(name)).to_be_visible()
        self.figure(name).get_by_role("button", name=re.compile("Export")).click()
        expect(self.page.get_by_role("button", name="PDF")).to_be_visible()

    def close_export(self) -> None:
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("button", name="PDF")).to_be_hidden()

    def download(self, button: str) -> tuple[str, bytes]:
        """The name and the content of what a button of an open menu saves."""
        with self.page.expect_download(timeout=2 * PATIENCE_MS) as waiting:
            self.page.get_by_role("button", name=button, exact=True).click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()
