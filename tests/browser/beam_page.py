"""The beam page as a user meets it."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import Locator, expect

from tests.browser.decode_page import PATIENCE_MS, DecodePage

# The node and the middle of a kept token's bar, in the window's px.
_WHERE = """(place) => {
  const chart = document.querySelector('.st-key-figure-beam-tree .js-plotly-plot')
  const bars = chart.data.find((trace) => trace.name === 'kept')
  const { xaxis, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect()
  const [step, number] = bars.customdata[place]
  const x = xaxis._offset + xaxis.d2p(bars.base[place] + bars.x[place] / 2)
  return [step, number, box.left + x, box.top + yaxis._offset + yaxis.d2p(bars.y[place])]
}"""


class BeamPage(DecodePage):
    """What one does on the page, and what one reads off it."""

    def open(self, **parameters: object) -> BeamPage:
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.server}/beam{query}")
        heading = self.page.get_by_role("heading", name="Beam search", exact=True)
        expect(heading).to_be_visible(timeout=PATIENCE_MS)
        expect(self.drawn("beam-tree")).to_be_visible(timeout=PATIENCE_MS)
        return self

    @property
    def text(self) -> Locator:  # type: ignore[override]
        return self.page.locator(".st-key-beam-text")

    @property
    def node(self) -> Locator:
        return self.page.locator(".st-key-beam-node")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Steps shown")

    @property
    def cover(self) -> Locator:
        return self.page.locator(".st-key-figure-beam-tree .de-cover")

    def tree(self, name: str) -> dict[str, object]:
        """A trace of the tree by its name."""
        data = self.figure_data("beam-tree")["data"]
        found: dict[str, object] = next(trace for trace in data if trace["name"] == name)
        return found

    def click_node(self, place: int) -> tuple[int, int]:
        """Click a kept token; returns its step and its place among the step's candidates."""
        self.figure("beam-tree").scroll_into_view_if_needed()
        step, number, x, y = self.page.evaluate(_WHERE, place)
        self.page.mouse.click(x, y)
        return step, number
