"""The chart's script by itself: a step that is chosen is drawn before the server has answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from pages.ui.widgets import chart
from pages.ui.widgets.source import source

pytestmark = pytest.mark.browser

SETUP = """async ([html, code]) => {
  document.body.innerHTML = html
  window.drawn = []
  window.asked = []
  window.Plotly = { react: (plot, data) => drawn.push(data[0]) }
  document.querySelector(".plot").on = () => {}
  const figure = (at) => JSON.stringify({ data: [at], layout: { height: 9 } })
  window.fetch = (address) => {
    asked.push(address)
    const at = Number(address.split("/").pop())
    const json = async () => ({ bars: { figure: figure(at), alt: "" } })
    return Promise.resolve({ ok: true, json })
  }
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
  window.show = async (data) => {
    module.default({
      data: { name: "bars", alt: "", ...data, figure: figure(data.shows) },
      parentElement: document.body,
      setTriggerValue: () => {},
    })
    await new Promise((next) => setTimeout(next, 150))
  }
  window.choose = async (index, strip = "strip") => {
    const shown = []
    document.dispatchEvent(new CustomEvent("de-choose", { detail: { strip, index, shown } }))
    await Promise.all(shown)
  }
}"""


@pytest.fixture
def page(context: BrowserContext) -> Page:
    opened = context.new_page()
    opened.evaluate(SETUP, [chart._HTML, source("widgets/chart.js")])
    return opened


def _drawn(page: Page, *calls: str) -> list[int]:
    for call in calls:
        page.evaluate(f"async () => {{ await {call} }}")
    found: list[int] = page.evaluate("drawn")
    return found


def _server(number: int, at: int, *, ahead: bool = True) -> str:
    where = {"address": "/figures/", "strip": "strip", "at": at} if ahead else None
    data: dict[str, Any] = {"number": number, "shows": at, "ahead": where}
    return f"show({json.dumps(data)})"


def test_the_chosen_step_is_drawn_at_once_and_not_again_by_the_server(page: Page) -> None:
    assert _drawn(page, _server(1, 0), "choose(5)") == [0, 5]
    # An answer to a choice before counts no more; that to this one changes nothing.
    assert _drawn(page, _server(2, 3)) == [0, 5]
    assert _drawn(page, _server(3, 5)) == [0, 5]
    # What the server selects after that is drawn.
    assert _drawn(page, _server(4, 7), "choose(2, 'another')") == [0, 5, 7]
    page.close()


def test_once_a_knob_was_moved_only_the_server_draws(page: Page) -> None:
    moved = "document.dispatchEvent(new CustomEvent('de-moved'))"
    assert _drawn(page, _server(1, 0), moved, "choose(5)") == [0]
    assert page.evaluate("asked") == []
    assert _drawn(page, _server(2, 5, ahead=False), "choose(6)") == [0, 5]
    page.close()
