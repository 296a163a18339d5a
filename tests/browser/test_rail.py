"""The script of a rail of knobs by itself, as a browser runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from pages.ui.widgets.controls import rail

pytestmark = pytest.mark.browser

SETUP = """async ([html, code]) => {
  document.body.innerHTML = html
  window.told = []
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
  window.show = (data) => module.default({
    data,
    parentElement: document.body,
    setStateValue: (name, value) => told.push(value),
  })
}"""


@pytest.fixture
def alone(context: BrowserContext) -> Page:
    """A tab with the script and its markup."""
    page = context.new_page()
    page.evaluate(SETUP, [rail._HTML, rail.SCRIPTS])
    return page


def show(page: Page, drawn: float, seen: int = 0, heat: float = 0.8, width: int = 0) -> None:
    common = {"help": "Help.", "enabled": True, "folded": False}
    knobs = [
        {"key": "heat", "label": "Heat", "low": 0, "high": 2, "most": 10, "step": 0.05}
        | {"digits": 2, "start": 0.8, "value": heat, **common},
        {"key": "width", "label": "Width", "low": 0, "high": 50, "most": 1000, "step": 1}
        | {"digits": 0, "start": 0, "value": width, **common},
    ]
    page.evaluate(f"show({json.dumps({'knobs': knobs, 'seen': seen, 'drawn': drawn})}); null")


def told(page: Page, count: int) -> list[dict[str, Any]]:
    """Wait for `count` reports and return them."""
    page.wait_for_function("count => told.length >= count", arg=count)
    messages: list[dict[str, Any]] = page.evaluate("told")
    return messages


def field(page: Page, key: str) -> str:
    return page.locator(f".st-key-{key} input").input_value()


def test_a_slider_and_its_field_hold_one_value(alone: Page) -> None:
    show(alone, 1)
    assert (field(alone, "heat"), field(alone, "width")) == ("0.80", "0")
    alone.get_by_role("slider", name="Heat").press("ArrowRight")
    assert field(alone, "heat") == "0.85"
    alone.locator(".st-key-heat input").fill("1.234")
    alone.locator(".st-key-heat input").press("Enter")
    assert alone.get_by_role("slider", name="Heat").input_value() == "1.25"
    assert field(alone, "heat") == "1.234"
    assert told(alone, 2)[-1] == {"number": 2, "values": {"heat": 1.234}}


def test_what_the_server_has_not_seen_stays_and_is_told_again(alone: Page) -> None:
    show(alone, 1)
    alone.get_by_role("slider", name="Heat").press("ArrowRight")
    told(alone, 1)
    show(alone, 2, seen=0, heat=0.8, width=3)
    assert (field(alone, "heat"), field(alone, "width")) == ("0.85", "3")
    alone.get_by_role("slider", name="Width").press("ArrowRight")
    assert told(alone, 2)[-1] == {"number": 2, "values": {"heat": 0.85, "width": 4}}
    show(alone, 4, seen=2, heat=0.5, width=4)
    # An earlier drawing doesn't overtake it.
    show(alone, 3, seen=2, heat=0.1, width=9)
    assert (field(alone, "heat"), field(alone, "width")) == ("0.50", "4")


def test_a_number_out_of_range_becomes_the_nearest_and_says_so(alone: Page) -> None:
    show(alone, 1, heat=1.0)
    note, taken = alone.locator(".note").first, []
    for typed, words in (("1e3", "1,000 is more"), ("-4", "-4 is less"), ("", ""), ("0.7", "")):
        alone.locator(".st-key-heat input").fill(typed)
        alone.locator(".st-key-heat input").press("Enter")
        taken.append(field(alone, "heat"))
        assert words in note.inner_text() and (words or not note.inner_text())
    assert taken == ["10.00", "0.00", "0.80", "0.70"]
    alone.wait_for_function("told.at(-1)?.values.heat === 0.7")


def test_a_held_key_is_told_at_a_pace_and_ends_where_it_leads(alone: Page) -> None:
    show(alone, 1)
    alone.get_by_role("slider", name="Width").focus()
    for _ in range(20):
        alone.keyboard.down("ArrowRight")
    alone.keyboard.up("ArrowRight")
    alone.wait_for_function("told.at(-1)?.values.width === 20")
    assert field(alone, "width") == "20"


def test_reset_goes_back_to_the_default_and_help_is_a_press_away(alone: Page) -> None:
    show(alone, 1, heat=1.5)
    alone.get_by_role("button", name="About Heat").click()
    assert alone.get_by_text("Help.").first.is_visible()
    alone.get_by_role("button", name="Heat: back to 0.80").click()
    assert field(alone, "heat") == "0.80"
    assert told(alone, 1)[-1]["values"] == {"heat": 0.8}
    assert alone.get_by_role("button", name="Heat: back to 0.80").is_hidden()


def test_a_further_number_of_a_knob_shows_while_that_is_on(alone: Page) -> None:
    own = {
        "help": "Help.",
        "enabled": True,
        "folded": False,
        "low": 0,
        "high": 1,
        "most": 1,
        "digits": 2,
    }
    knobs = [
        {"key": "share", "label": "Share", "step": 0.05, "start": 0, "value": 0, **own},
        {"key": "bound", "label": "Bound", "step": 0.05, "start": 0.1, "value": 0.1, **own}
        | {"partOf": "share"},
    ]
    data = {"knobs": knobs, "seen": 0, "drawn": 1}
    alone.evaluate(f"show({json.dumps(data)}); null")
    bound = alone.get_by_role("slider", name="Bound")
    expect(bound).to_be_hidden()
    assert alone.locator("option").all_inner_texts() == ["Share 0.00"]
    alone.get_by_role("slider", name="Share").press("ArrowRight")
    expect(bound).to_be_visible()
    assert len(alone.locator("option").all()) == 2
    alone.get_by_role("slider", name="Share").press("ArrowLeft")
    expect(bound).to_be_hidden()


def test_a_folded_knob_is_a_press_away_and_the_fold_names_it_once_it_is_moved(alone: Page) -> None:
    own = {"help": "Help.", "enabled": True, "low": 0, "high": 1, "most": 1, "digits": 2}
    own |= {"step": 0.05, "start": 0}
    knobs = [
        {"key": "heat", "label": "Heat", "folded": False, "value": 0.5, **own},
        {"key": "share", "label": "Share", "folded": True, "value": 0.25, **own},
        {"key": "bound", "label": "Bound", "folded": True, "value": 0, **own},
    ]
    data = {"knobs": knobs, "seen": 0, "drawn": 1}
    alone.evaluate(f"show({json.dumps(data)}); null")
    fold = alone.get_by_role("button", name="More knobs (2): Share 0.25", exact=True)
    bound = alone.get_by_role("slider", name="Bound")
    expect(alone.get_by_role("slider", name="Heat")).to_be_attached()
    assert fold.get_attribute("aria-expanded") == "false"
    fold.press("Enter")
    assert fold.get_attribute("aria-expanded") == "true"
    bound.press("ArrowRight")
    expect(alone.get_by_role("button", name="Share 0.25, Bound 0.05")).to_be_visible()
    assert told(alone, 1)[-1]["values"] == {"bound": 0.05}


def test_a_number_is_settled_once_when_nothing_moves_any_more(alone: Page) -> None:
    knob = {"help": "Help.", "enabled": True, "low": 0, "high": 9, "most": 9, "digits": 0}
    knob |= {"key": "budget", "label": "Budget", "step": 1, "start": 0, "value": 0, "folded": False}
    data = {"knobs": [knob], "seen": 0, "drawn": 1, "settles": True}
    alone.evaluate(f"show({json.dumps(data)}); null")
    slider = alone.get_by_role("slider", name="Budget")
    for _ in range(3):
        slider.press("ArrowRight")
    alone.wait_for_function("told.some((message) => message.settled)")
    settled = [message for message in told(alone, 2) if message.get("settled")]
    assert [message["values"] for message in settled] == [{"budget": 3}]
    assert told(alone, 2)[-1]["settled"]
