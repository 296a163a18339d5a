"""The speculative page as a user meets it."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import Locator, expect

from tests.browser.decode_page import PATIENCE_MS, DecodePage

# The middle of a bar of the timeline, in the window's px, and the token that it stands for.
_WHERE = """([kind, place]) => {
  const chart = document.querySelector('.st-key-figure-timeline .js-plotly-plot')
  const bars = chart.data.find((trace) => trace.name === kind)
  const { xaxis, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect()
  const x = box.left + xaxis._offset + xaxis.d2p(bars.x[place])
  const y = box.top + yaxis._offset + yaxis.d2p(bars.base[place] + 0.5)
  return [...bars.customdata[place], x, y]
}"""
# Whether the ring stands around the token that was clicked.
_RINGED = """([round, row]) => {
  const chart = document.querySelector('.st-key-figure-timeline .js-plotly-plot')
  const ring = (chart?.layout.shapes || []).find((shape) => shape.name === 'selected')
  return ring && ring.x0 < round && round < ring.x1 && ring.y0 < row && row < ring.y1
}"""


class SpecPage(DecodePage):
    """What one does on the page, and what one reads off it."""

    def open(self, **parameters: object) -> SpecPage:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/speculative{query}")
        heading = self.page.get_by_role("heading", name="Speculative decoding", exact=True)
        expect(heading).to_be_visible(timeout=PATIENCE_MS)
        expect(self.drawn("timeline")).to_be_visible(timeout=PATIENCE_MS)
        expect(self.tokens.first).to_be_visible()
        return self

    @property
    def tokens(self) -> Locator:
        return self.page.locator(".st-key-spec-strip .tokens button")

    @property
    def selected(self) -> Locator:
        return self.page.locator(".st-key-spec-strip .tokens button[aria-current=true]")

    @property
    def token(self) -> Locator:
        return self.page.locator(".st-key-spec-token")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Rounds shown")

    @property
    def cover(self) -> Locator:
        return self.page.locator(".st-key-figure-timeline .de-cover")

    @property
    def verdict(self) -> Locator:
        """That of the tab that is open."""
        found = self.page.locator(".st-key-time-verdict, .st-key-lossless-verdict")
        return found.filter(visible=True)

    def click_token(self, kind: str, place: int = 0) -> tuple[int, int]:
        """Click a token of the timeline; returns its round and its place in it."""
        self.figure("timeline").scroll_into_view_if_needed()
        at, row, x, y = self.page.evaluate(_WHERE, [kind, place])
        self.page.mouse.click(x, y)
        return at, row

    def expect_ring(self, at: int, row: int) -> None:
        self.page.wait_for_function(_RINGED, arg=[at, row])
