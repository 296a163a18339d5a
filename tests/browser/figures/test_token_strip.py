"""The token strip's script by itself, as a browser runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from pages.ui.run.figures import token_strip
from pages.ui.widgets.component import source

pytestmark = pytest.mark.browser

SETUP = """async ([html, code]) => {
  document.body.innerHTML = html
  window.picked = []
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
  // In a property: a function that an evaluation returns would be called.
  window.show = (data) => {
    window.cleanUp = module.default({
      data,
      parentElement: document.body,
      setStateValue: (name, value) => picked.push(value),
      setTriggerValue: () => {},
    })
  }
}"""

# The strip keeps a key that it takes from scrolling the page.
HEARD = """() => {
  const press = { key: "ArrowRight", bubbles: true, composed: true, cancelable: true }
  return !document.body.dispatchEvent(new KeyboardEvent("keydown", press))
}"""

# The timers that are set and not over.
TIMERS = """() => {
  const [set, clear] = [setTimeout, clearTimeout]
  window.timers = new Set()
  window.setTimeout = (act, ms) => {
    const timer = set(() => timers.delete(timer) && act(), ms)
    timers.add(timer)
    return timer
  }
  window.clearTimeout = (timer) => timers.delete(timer) && clear(timer)
}"""


def _data(drawn: float, words: list[str], **others: object) -> dict[str, Any]:
    tokens = [[word, "#fff", word, ""] for word in words]
    quiet = {"prompt": "", "selected": 0, "live": False, "run": 1, "keys": True}
    return {**quiet, "mark": "#000", "tokens": tokens, "drawn": drawn, **others}


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab with the script and its markup."""
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    page.add_style_tag(content=source("run/figures/token_strip.css"))
    return page


def _show(page: Page, drawn: float, words: list[str], **others: object) -> None:
    page.evaluate(f"show({json.dumps(_data(drawn, words, **others))})")


def test_what_was_drawn_last_stays_and_hears_the_keys(page: Page) -> None:
    _show(page, 1, ["a", "b", "c"])
    page.evaluate("window.kept = cleanUp; null")
    _show(page, 3, ["a", "b", "c"])
    # An earlier call is overtaken.
    _show(page, 2, ["a"], live=True)
    assert page.locator(".tokens button").all_text_contents() == ["a", "b", "c"]
    assert page.locator(".live").count() == 0
    # A late clean-up leaves the keys to what was drawn after.
    page.evaluate("cleanUp?.(); kept()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("picked.length === 1")
    assert page.evaluate("picked") == [1]


def test_a_removed_strip_no_longer_hears_the_keys(page: Page) -> None:
    _show(page, 1, ["a", "b", "c"])
    _show(page, 2, ["a", "b", "c"])
    page.evaluate(TIMERS)
    assert page.evaluate(HEARD)
    page.wait_for_function("picked.length === 1")
    assert page.evaluate("timers.size && (cleanUp(), [...timers])") == []
    assert not page.evaluate(HEARD)
    assert page.evaluate("[...timers]") == []


_PLACES = """() => [...document.querySelectorAll(".prompt, .tokens button")]
  .map((node) => node.getBoundingClientRect().left)"""


def test_a_long_prompt_leaves_the_text_in_sight_and_a_mark_turns_its_own_text(page: Page) -> None:
    _show(page, 1, ["a", "b"], prompt="a line\n" * 12, selected=-1)
    expect(page.locator(".tokens button").first).to_be_in_viewport()
    # One that turns the direction of writing ends with its own text.
    _show(page, 2, ["one", "\u202etwo", "three"], prompt="a\u202eb")
    left = page.evaluate(_PLACES)
    assert left == sorted(left)


# A choice that waits for its figures, and presses elsewhere before they are there.
HASTE = """() => {
  document.addEventListener("de-choose", ({ detail }) => detail.shown.push(new Promise(() => {})))
  const press = new PointerEvent("pointerdown", { bubbles: true, composed: true })
  document.querySelectorAll(".tokens button")[2].click()
  const before = [...picked]
  document.body.dispatchEvent(press)
  const after = [...picked]
  document.body.dispatchEvent(press)
  return [before, after]
}"""


def test_a_press_elsewhere_follows_the_choice_that_waits(page: Page) -> None:
    _show(page, 1, ["a", "b", "c"])
    assert page.evaluate(HASTE) == [[], [2]]
    page.evaluate("new Promise((done) => setTimeout(done, 400))")
    assert page.evaluate("picked") == [2]


def test_a_stretch_of_the_prompt_is_marked_by_its_place_before_the_end(page: Page) -> None:
    prompt = page.locator(".prompt")
    for drawn, repeated, mark in ((1, [5, 2], ["b😀c"]), (2, [], []), (3, [99, 5], ["a\u0301😀"])):
        _show(page, drawn, ["x"], prompt="a\u0301😀b😀c d", repeated=repeated)
        assert prompt.text_content() == "a\u0301😀b😀c d"
        assert prompt.locator(".repeated").all_text_contents() == mark
