"""The token strip's script by itself, as a browser runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from pages.ui.widgets import token_strip
from pages.ui.widgets.source import source

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


def test_what_was_drawn_last_stays_when_an_earlier_call_is_overtaken(
    context: BrowserContext,
) -> None:
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    earlier, later = _data(1, ["a"], live=True), _data(2, ["a", "b", "c"])
    page.evaluate(f"show({json.dumps(later)})")
    page.evaluate(f"show({json.dumps(earlier)})")
    assert page.locator(".tokens button").all_text_contents() == ["a", "b", "c"]
    assert page.locator(".live").count() == 0
    page.evaluate("cleanUp?.()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("picked.length === 1")
    assert page.evaluate("picked") == [1]
    page.close()


def test_a_late_clean_up_leaves_the_keys_to_what_was_drawn_after(context: BrowserContext) -> None:
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    page.evaluate(f"show({json.dumps(_data(1, ['a', 'b', 'c']))}); window.kept = cleanUp; null")
    page.evaluate(f"show({json.dumps(_data(2, ['a', 'b', 'c']))})")
    page.evaluate("kept()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("picked.length === 1")
    assert page.evaluate("picked") == [1]
    page.close()


def test_a_removed_strip_no_longer_hears_the_keys(context: BrowserContext) -> None:
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    page.evaluate(f"show({json.dumps(_data(1, ['a', 'b', 'c']))})")
    page.evaluate(f"show({json.dumps(_data(2, ['a', 'b', 'c']))})")
    page.evaluate(TIMERS)
    assert page.evaluate(HEARD)
    page.wait_for_function("picked.length === 1")
    assert page.evaluate("timers.size && (cleanUp(), [...timers])") == []
    assert not page.evaluate(HEARD)
    assert page.evaluate("[...timers]") == []
    page.close()


_PLACES = """() => [...document.querySelectorAll(".prompt, .tokens button")]
  .map((node) => node.getBoundingClientRect().left)"""


def test_behind_a_long_prompt_the_text_begins_in_sight(context: BrowserContext) -> None:
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    page.add_style_tag(content=source("widgets/token_strip.css"))
    hidden = _data(1, ["a", "b"], prompt="a line\n" * 12, selected=-1)
    page.evaluate(f"show({json.dumps(hidden)})")
    expect(page.locator(".tokens button").first).to_be_in_viewport()
    page.close()


def test_a_mark_that_turns_the_direction_of_writing_ends_with_its_own_text(
    context: BrowserContext,
) -> None:
    page = context.new_page()
    page.evaluate(SETUP, [token_strip._HTML, token_strip.SCRIPTS])
    data = _data(1, ["one", "\u202etwo", "three"], prompt="a\u202eb")
    page.evaluate(f"show({json.dumps(data)})")
    page.add_style_tag(content=source("widgets/token_strip.css"))
    left = page.evaluate(_PLACES)
    assert left == sorted(left)
    page.close()
