"""The chart's script by itself: a step that is chosen is drawn before the server has answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from pages.ui.widgets import chart, stepper

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
    const at = Number(new URLSearchParams(address.split("?")[1]).get("strip"))
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
    const detail = { inputs: { [strip]: index }, shown }
    document.dispatchEvent(new CustomEvent("de-choose", { detail }))
    await Promise.all(shown)
  }
}"""


# Of odd places the answer takes its time.
SLOW = """() => {
  const fetchNow = window.fetch
  window.fetch = async (address) => {
    if (/strip=[135]/.test(address)) await new Promise((next) => setTimeout(next, 600))
    return fetchNow(address)
  }
}"""


@pytest.fixture
def page(context: BrowserContext) -> Page:
    opened = context.new_page()
    opened.evaluate(SETUP, [chart._HTML, chart.SCRIPTS])
    return opened


def _drawn(page: Page, *calls: str) -> list[int]:
    for call in calls:
        page.evaluate(f"async () => {{ await {call} }}")
    counts: list[int] = page.evaluate("drawn")
    return counts


def _server(number: int, at: int, *, ahead: bool = True) -> str:
    where = {"address": "/figures", "at": {"strip": at, "heat": 0.5}} if ahead else None
    data: dict[str, Any] = {"number": number, "shows": at, "ahead": where}
    return f"show({json.dumps(data)})"


def test_the_chosen_step_is_drawn_at_once_and_not_again_by_the_server(page: Page) -> None:
    assert _drawn(page, _server(1, 0), "choose(5)") == [0, 5]
    # An answer to a choice before counts no more; that to this one changes nothing.
    assert _drawn(page, _server(2, 3)) == [0, 5]
    assert _drawn(page, _server(3, 5)) == [0, 5]
    # What the server selects after that is drawn.
    assert _drawn(page, _server(4, 7), "choose(2, 'another')") == [0, 5, 7]
    # Inputs of several kinds go together.
    assert _drawn(page, "choose(0.7, 'heat')", "choose(8)") == [0, 5, 7, 8]
    assert page.evaluate("asked").pop() == "/figures?strip=8&heat=0.7"


def test_an_answer_that_comes_late_overwrites_nothing(page: Page) -> None:
    page.evaluate(SLOW)
    _drawn(page, _server(1, 0))
    page.evaluate("void (window.first = choose(5))")
    assert _drawn(page, "choose(6)", "first") == [0, 6]
    # Here the server is the quicker one.
    page.evaluate("void (window.first = choose(3))")
    assert _drawn(page, _server(2, 3), _server(3, 4), "first") == [0, 6, 3, 4]
    # Of parts that aren't offered any more, nothing is asked for.
    assert _drawn(page, _server(4, 5, ahead=False), "choose(6)") == [0, 6, 3, 4, 5]


STEPPER = """async ([html, code]) => {
  document.body.innerHTML = html
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
  const said = () => document.querySelector("strong").textContent
  window.fetch = () => { throw new Error("there is nothing to fetch") }
  const patience = []
  window.setTimeout = (later) => patience.push(later)
  window.wait = () => { patience.forEach((later) => later()); return said() }
  window.show = (drawn, at) => {
    const ahead = { address: "", at: { strip: at } }
    const data = { strip: "strip", ahead, count: 9, marked: [4], drawn }
    module.default({ data, parentElement: document.body })
    return said()
  }
  window.choose = (index, strip = "strip") => {
    const detail = { inputs: { [strip]: index }, shown: [] }
    document.dispatchEvent(new CustomEvent("de-choose", { detail }))
    return said()
  }
}"""


def test_the_stepper_says_what_is_chosen_until_the_server_has_drawn_it(
    context: BrowserContext,
) -> None:
    page = context.new_page()
    page.evaluate(STEPPER, [stepper._HTML, stepper.SCRIPTS])
    calls = ("show(1, 0)", "choose(5)", "choose(7, 'another')", "show(2, 3)", "show(3, 5)")
    assert [page.evaluate(call)[5] for call in calls] == ["1", "6", "6", "6", "6"]
    assert page.evaluate("show(4, 2)") == "Step 3 of 9"
    # What the server never draws is given up.
    assert [page.evaluate(call)[5] for call in ("choose(8)", "show(5, 1)")] == ["9", "9"]
    assert page.locator("[data-to=next]").is_disabled()
    assert page.evaluate("wait()") == "Step 2 of 9"
