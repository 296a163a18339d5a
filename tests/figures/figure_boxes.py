"""Figures drawn in a browser with their own fonts, and the faults of their texts."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs

from core.export.drawing.font_files import FAMILIES as TRANSLATED_FAMILIES
from core.export.drawing.font_files import TRANSLATED
from core.figures.base.fonts import FAMILIES, FONTS

_SCRIPT = (Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
_DRAW = """async (figure) => {
  await Plotly.react("figure", figure.data, figure.layout, { staticPlot: true })
  return measure(document.getElementById("figure"))
}"""
# Letters of a line take the middle of its box.
_AIR = 0.24
_SMALLEST = 10.4
# Rounding of Plotly's positions.
_EXACT = 1e-6


def page_with_fonts(page: Page) -> None:
    """Make a page that draws figures and knows no fonts but the figures' own."""
    faces = [(FAMILIES[name], "200 900", path) for name, path in FONTS.items()]
    faces += [
        (TRANSLATED_FAMILIES[language], str(weight), path)
        for (language, weight), path in TRANSLATED.items()
    ]
    rules = "".join(
        f"@font-face {{ font-family: '{family}'; font-weight: {weight}; src: "
        f"url(data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}) }}"
        for family, weight, path in faces
    )
    loads = " ".join(
        f"await document.fonts.load(\"{weight} 12px '{family}'\", 'a\\u2423');"
        for family, _, _ in faces
        for weight in (400, 700)
    )
    page.set_content(
        f"<style>{rules} body {{ margin: 0 }} #figure {{ display: inline-block }}</style>"
        '<div id="figure"></div>'
    )
    page.add_script_tag(content=get_plotlyjs())
    page.add_script_tag(content=_SCRIPT)
    page.evaluate(f"async () => {{ {loads} }}")


def faults(page: Page, figure: go.Figure) -> list[str]:
    """Return the faults of a figure's texts as the browser draws them."""
    drawn = page.evaluate(_DRAW, {"data": figure.to_dict()["data"], "layout": _layout(figure)})
    texts, layout = drawn["texts"], figure.layout
    paper = {"left": 0, "top": 0, "right": layout.width, "bottom": layout.height}
    listed = [
        f"outside the paper: {text['text']!r} {_box(text)}"
        for text in texts
        if not _within(text, paper)
    ]
    listed += [
        f"over its bar: {text['text']!r} {_box(text)} in {_box(text['inside'])}"
        for text in texts
        if text["inside"] and not _within(text, text["inside"])
    ]
    listed += [
        f"small: {text['text']!r} {text['size']:.1f} px"
        for text in texts
        if text["size"] < _SMALLEST
    ]
    listed += [
        f"overlap: {first['text']!r} {_box(first)} and {second['text']!r} {_box(second)}"
        for first, second in combinations(texts, 2)
        if _overlap(first, second)
    ]
    listed += [
        f"over a mark: {text['text']!r} {_box(text)} and {_box(mark)}"
        for text in texts
        if "bartext" in text["kind"]
        for mark in drawn["marks"]
        if _overlap(text, mark)
    ]
    return listed + list(_displaced(drawn["bars"], layout.barmode))


def _displaced(bars: Sequence[dict[str, Any]], mode: str | None) -> Iterator[str]:
    """Yield the bars that aren't amid their place, or thicker or thinner than those beside them.

    Plotly takes the thickness of bars without one from the distances within their own trace, so
    that a trace with gaps gets thicker bars than the others.
    """
    for bar in bars:
        if mode != "group" and abs(bar["from"] + bar["to"] - 2 * bar["at"]) > _EXACT:
            yield f"beside its place: a bar of {bar['name']!r} at {bar['at']:g}"
    unsized = sorted((bar for bar in bars if not bar["sized"]), key=itemgetter("axes"))
    for _, group in groupby(unsized, itemgetter("axes")):
        sizes = {bar["name"]: bar["to"] - bar["from"] for bar in group}
        if max(sizes.values()) - min(sizes.values()) > _EXACT:
            yield f"of unequal thickness: {sizes}"


def _layout(figure: go.Figure) -> dict[str, Any]:
    layout: dict[str, Any] = figure.to_dict()["layout"]
    return layout


def _letters(text: dict[str, Any]) -> tuple[float, float]:
    air = _AIR * (text["bottom"] - text["top"])
    return text["top"] + air, text["bottom"] - air


def _within(text: dict[str, Any], box: dict[str, float], slack: float = 1.0) -> bool:
    top, bottom = _letters(text)
    return (
        text["left"] >= box["left"] - slack
        and text["right"] <= box["right"] + slack
        and top >= box["top"] - slack
        and bottom <= box["bottom"] + slack
    )


def _overlap(one: dict[str, Any], other: dict[str, Any], slack: float = 0.5) -> bool:
    (top, bottom), (other_top, other_bottom) = _letters(one), _letters(other)
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    return across > slack and min(bottom, other_bottom) - max(top, other_top) > slack


def _box(box: dict[str, float]) -> str:
    return "{left:.0f},{top:.0f}-{right:.0f},{bottom:.0f}".format(**box)
