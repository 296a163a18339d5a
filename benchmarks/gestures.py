"""What a gesture takes to reach the screen, and a page's first figure beside a plain page's.

The page itself looks, frame by frame: from the key or the click that it sees until the figure that
is waited for says something else.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

PLAIN = """
import plotly.graph_objects as go
import streamlit as st

bars = st.slider("Bars", 1, 20, 10)
st.plotly_chart(go.Figure(go.Bar(y=list(range(bars))), {"meta": {"alt": str(bars)}}))
"""
# `said` is what a figure says of itself; nothing before it is drawn.
_WATCH = """([figure]) => {
  const said = () => {
    const plot = document.querySelector(`${figure} .js-plotly-plot`)
    return plot?.querySelector('.main-svg') ? `${plot.layout?.meta?.alt}` : ''
  }
  const before = said()
  window.gesture = {}
  const begin = () => { gesture.began ??= performance.now() }
  for (const kind of ['pointerdown', 'keydown'])
    addEventListener(kind, begin, {capture: true, once: true})
  const look = () => {
    const now = said()
    if (gesture.began !== undefined && now && now !== before) {
      gesture.ended = performance.now()
    } else requestAnimationFrame(look)
  }
  look()
}"""
# Asked from inside: the page's policy forbids what is evaluated from outside again and again.
_ENDED = """async () => {
  const late = performance.now() + PATIENCE_MS
  while (gesture.ended === undefined) {
    if (performance.now() > late) throw new Error('The figure did not change within PATIENCE_MS ms')
    await new Promise((next) => setTimeout(next, 20))
  }
  return gesture.ended - gesture.began
}""".replace("PATIENCE_MS", "60_000")


@dataclass(frozen=True)
class Gesture:
    """What is done `turn` after `turn`, and the figure that shows it."""

    name: str
    figure: str
    act: Callable[[Page, int], None]


def _token(page: Page, turn: int) -> None:
    page.locator(".st-key-strip .tokens button").nth(3 + turn).click()


def _arrow(page: Page, turn: int) -> None:  # noqa: ARG001
    page.keyboard.press("ArrowRight")


def _knob(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider", name="Temperature").press("ArrowRight")


def _tab(page: Page, turn: int) -> None:
    page.get_by_role("tab", name=("Time", "Uncertainty")[turn % 2]).click()


def _bars(page: Page, turn: int) -> None:  # noqa: ARG001
    page.get_by_role("slider").press("ArrowRight")


DECODE = (
    Gesture("a token", ".st-key-figure-candidates", _token),
    Gesture("an arrow key", ".st-key-figure-candidates", _arrow),
    Gesture("a knob", ".st-key-figure-candidates", _knob),
    Gesture("a tab", ".st-key-more", _tab),
)
LAB = (Gesture("a knob of the lab", ".st-key-figure-stages", _knob),)
ONE_CHART = (Gesture("a slider of the plain page", "body", _bars),)


def milliseconds(page: Page, gesture: Gesture, repeats: int) -> float:
    """The median of a gesture, the page at rest before each; the first one is left out."""
    return statistics.median([_once(page, gesture, turn) for turn in range(repeats + 1)][1:])


def _once(page: Page, gesture: Gesture, turn: int) -> float:
    page.wait_for_timeout(1500)
    page.evaluate(_WATCH, [gesture.figure])
    gesture.act(page, turn)
    return float(page.evaluate(_ENDED))
