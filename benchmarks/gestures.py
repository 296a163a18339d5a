"""What a gesture takes to reach the screen, and a page's first figure beside a plain page's.

The page itself looks, frame by frame: from the key or the click that it sees until the figure that
is waited for says something else.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.browser.beam_page import BeamPage

PLAIN = """
import plotly.graph_objects as go
import streamlit as st

bars = st.slider("Bars", 1, 20, 10)
st.plotly_chart(go.Figure(go.Bar(y=list(range(bars))), {"meta": {"alt": str(bars)}}))
"""
# `said` is what the first figure in sight, or else a text, says; nothing before it is drawn.
_WATCH = """([shown, text]) => {
  const said = () => {
    const place = document.querySelector(shown)
    if (text) return place?.innerText ?? ''
    const plots = [...(place?.querySelectorAll('.js-plotly-plot') ?? [])]
    const plot = plots.find((one) => one.checkVisibility())
    const { alt, caption } = plot?.layout?.words ?? plot?.layout?.meta ?? {}
    return plot?.querySelector('.main-svg') ? `${alt} ${caption}` : ''
  }
  const before = said()
  const watch = {}
  window.gesture = watch
  const begin = () => { watch.began ??= performance.now() }
  for (const kind of ['pointerdown', 'keydown'])
    addEventListener(kind, begin, {capture: true, once: true})
  const look = () => {
    const now = said()
    if (watch.began !== undefined && now && now !== before) watch.ended = performance.now()
    else if (window.gesture === watch) requestAnimationFrame(look)
  }
  look()
}"""
# Asked from inside: the page's policy forbids what is evaluated from outside again and again.
_ENDED = """async () => {
  const late = performance.now() + PATIENCE_MS
  while (gesture.ended === undefined) {
    if (performance.now() > late) return null
    await new Promise((next) => setTimeout(next, 20))
  }
  return gesture.ended - gesture.began
}""".replace("PATIENCE_MS", "30_000")


@dataclass(frozen=True)
class Gesture:
    """What is done `turn` after `turn`, and what shows it.

    Args:
        shown: selects what holds the figure, or the text.
        text: whether a text shows it.
    """

    name: str
    shown: str
    act: Callable[[Page, int], None]
    text: bool = False


def _token(page: Page, turn: int) -> None:
    page.locator(".st-key-strip .tokens button").nth(3 + turn).click()


def _arrow(page: Page, turn: int) -> None:  # noqa: ARG001
    page.keyboard.press("ArrowRight")


def _knob(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider", name="Temperature").press("ArrowRight")


def _tab(*names: str) -> Callable[[Page, int], None]:
    def act(page: Page, turn: int) -> None:
        page.get_by_role("tab", name=names[turn % len(names)], exact=True).click()

    return act


def _node(page: Page, turn: int) -> None:
    BeamPage(page, "").click_node(2 + 3 * (turn % 4))


def _drafted(page: Page, turn: int) -> None:
    page.locator(".st-key-spec-strip .tokens button").nth(3 + turn).click()


def _penalty(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider", name="Length penalty").press("ArrowRight")


def _budget(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider", name="Thinking budget").press("ArrowLeft")


def _bars(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider").press("ArrowRight")


_CANDIDATES, _TABS = ".st-key-figure-candidates", ".st-key-more"
# Of the tab that is open: it is empty until something is in it.
_PANEL = f"{_TABS} [role=tabpanel]"
# By the path of the page.
GESTURES = {
    "decode": (
        Gesture("Decode: a token", _CANDIDATES, _token),
        Gesture("Decode: an arrow key", _CANDIDATES, _arrow),
        Gesture("Decode: a knob", _CANDIDATES, _knob),
        Gesture("Decode: a tab", _TABS, _tab("Time", "Uncertainty")),
    ),
    "sampling": (
        Gesture("Lab: a knob", ".st-key-figure-draw", _knob),
        Gesture("Lab: a tab", _PANEL, _tab("API log-probabilities", "Continuations"), text=True),
    ),
    "beam": (
        Gesture("Beam: a candidate", ".st-key-beam-node", _node, text=True),
        Gesture("Beam: the length penalty", ".st-key-note-changed", _penalty, text=True),
        Gesture("Beam: a tab", _PANEL, _tab("Greedy comparison", "Parent guesses"), text=True),
    ),
    "speculative": (
        Gesture("Speculative: a token", ".st-key-spec-token", _drafted, text=True),
        Gesture(
            "Speculative: a tab",
            _TABS,
            _tab("Acceptance and metrics", "Time"),
        ),
    ),
    "reasoning": (
        Gesture("Reasoning: the budget", ".st-key-controls", _budget, text=True),
        Gesture("Reasoning: a tab", _PANEL, _tab("Reasoning levels", "Calculator"), text=True),
    ),
}
ONE_CHART = (Gesture("A slider of the plain page", "body", _bars),)


def milliseconds(page: Page, gesture: Gesture, repeats: int) -> float | None:
    """The median of a gesture, the page at rest before each; the first one is left out.

    None where nothing on the page showed it.
    """
    times = [_once(page, gesture, turn) for turn in range(repeats + 1)][1:]
    found = [time for time in times if time is not None]
    return statistics.median(found) if found else None


def _once(page: Page, gesture: Gesture, turn: int) -> float | None:
    page.wait_for_timeout(1500)
    page.evaluate(_WATCH, [gesture.shown, gesture.text])
    gesture.act(page, turn)
    found: float | None = page.evaluate(_ENDED)
    return found
