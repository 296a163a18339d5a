"""The beam page as a user meets it."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.decode_page import DecodePage

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
    """Actions on the beam page, and its contents as a user sees them."""

    PATH = "beam"
    HEADING = "Beam search"
    FIRST = "beam-tree"

    @property
    def node(self) -> Locator:
        return self.page.locator(".st-key-beam-node")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Steps shown")

    @property
    def cover(self) -> Locator:
        return self.page.locator(".st-key-figure-beam-tree .de-cover")

    def click_node(self, place: int) -> tuple[int, int]:
        """Click a kept token; returns its step and its place among the step's candidates."""
        self.figure("beam-tree").scroll_into_view_if_needed()
        step, number, x, y = self.page.evaluate(_WHERE, place)
        self.page.mouse.click(x, y)
        return step, number
