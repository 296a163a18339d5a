"""The speculative page as a user meets it."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.decode_page import DecodePage

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
    """Actions on the speculative page, and its contents as a user sees them."""

    PATH = "speculative"
    HEADING = "Speculative decoding"
    FIRST = "timeline"
    STRIP = "spec-strip"

    @property
    def token(self) -> Locator:
        return self.page.locator(".st-key-spec-token")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Rounds shown")

    @property
    def cover(self) -> Locator:
        return self.page.locator(".st-key-figure-timeline .de-cover")

    def click_token(self, kind: str, place: int = 0) -> tuple[int, int]:
        """Click a token of the timeline; returns its round and its place in it."""
        self.figure("timeline").scroll_into_view_if_needed()
        at, row, x, y = self.page.evaluate(_WHERE, [kind, place])
        self.page.mouse.click(x, y)
        return at, row

    def expect_ring(self, at: int, row: int) -> None:
        self.page.wait_for_function(_RINGED, arg=[at, row])
