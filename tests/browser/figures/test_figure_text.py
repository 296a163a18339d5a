"""Tokens in a figure stay what they are, wherever Plotly writes them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs

from core.figures.base.labels import escaped, visible_token
from tests.figures.traces import HOSTILE

pytestmark = pytest.mark.browser

DRAW = """async (figure) => {
  await Plotly.newPlot("figure", figure.data, figure.layout)
  Plotly.Fx.hover("figure", [{ curveNumber: 0, pointNumber: 0 }])
}"""
# Where a figure's text stands, as Plotly's own classes call it.
PLACES = ".annotation-text .gtitle .xtitle .legendtext .xtick .bartext .nums"


def _figure(text: str) -> dict[str, Any]:
    bar = {"type": "bar", "x": [0], "y": [1], "name": text, "text": [text], "hovertext": [text]}
    return {
        "data": [{**bar, "hovertemplate": "%{hovertext}<extra></extra>", "textangle": 0}],
        "layout": {
            "meta": {"caption": "what the caption says"},
            "title": {"text": text},
            "annotations": [{"text": text, "x": 0, "y": 1, "showarrow": False}],
            "xaxis": {"title": {"text": text}, "tickvals": [0], "ticktext": [text]},
            "showlegend": True,
            "width": 1200,
            "height": 600,
        },
    }


def test_a_token_is_drawn_as_it_is(page: Page) -> None:
    page.set_content('<div id="figure"></div>')
    page.add_script_tag(content=get_plotlyjs())
    for token in (*HOSTILE, "%{x} 5% {y}", "&lt;", "&#37;"):
        shown = visible_token(token)
        page.evaluate(DRAW, _figure(escaped(shown)))
        for place in PLACES.split():
            page.wait_for_selector(place, state="attached")
            assert page.locator(place).first.text_content() == shown, (place, token)
