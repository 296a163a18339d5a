"""Caption for a journal: the content of a figure, its symbols in words, and its settings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...decoding.counting import sentences
from ...language import N_, tr
from ..base.color import to_oklab
from ..base.labels import NBSP, exact_plain, safe_plain
from ..base.measure import plain_of
from ..base.theme import GREY, Theme

_ENTRY = re.compile(r'<span style="color:(#[0-9a-f]{6})[^"]*">(.*?)</span>([^<]*)')
SHAPES = {
    "■": N_("square"),
    "□": N_("frame"),
    "▭": N_("frame"),
    "●": N_("dot"),
    "○": N_("circle"),
    "◆": N_("diamond"),
    "◇": N_("open diamond"),
    "★": N_("star"),
    "×": N_("cross"),
    "▱": N_("band"),
    "▌": N_("upright bar"),
    "┆": N_("dotted line"),
    "▲": N_("triangle"),
    "▽": N_("open triangle"),
    "✓": N_("tick"),
    "━": N_("line"),
    "╌": N_("dashed line"),
    "┄": N_("dashed line"),
    "┃": N_("upright line"),
    "│": N_("upright line"),
}
# Upper ends of OKLab's hue in degrees; larger hues are purple.
_HUES = (
    (18, N_("purple")),
    (42, N_("red")),
    (53, N_("vermilion")),
    (90, N_("orange")),
    (128, N_("yellow")),
    (190, N_("green")),
    (285, N_("blue")),
)
# Upper ends of lightness, in figures with colours and in grey ones.
_GREYS = (
    (0.3, N_("black")),
    (0.5, N_("dark grey")),
    (0.78, N_("grey")),
    (0.97, N_("light grey")),
    (2, N_("white")),
)
_SHADES = (
    (0.25, N_("black")),
    (0.41, N_("very dark")),
    (0.51, N_("dark")),
    (0.6, N_("medium dark")),
    (0.67, N_("medium")),
    (0.78, N_("light")),
    (0.87, N_("very light")),
    (0.97, N_("pale")),
    (2, N_("white")),
)
# Hues with other lightness limits for "dark" and "light".
_EDGES = {"yellow": (0.75, 0.92), "blue": (0.5, 0.68), "orange": (0.62, 0.8), "purple": (0.55, 0.8)}
_COLORLESS = 0.03


def color_name(color: str, theme: Theme) -> str:
    """Return the name of an `#rrggbb` colour for a caption; in the grey theme its lightness."""
    lightness, a, b = to_oklab(color)
    if theme is GREY or math.hypot(a, b) < _COLORLESS:
        scale = _SHADES if theme is GREY else _GREYS
        return tr(next(name for end, name in scale if lightness < end))
    degrees = math.degrees(math.atan2(b, a)) % 360
    name = next((name for end, name in _HUES if degrees < end), "purple")
    dark, light = _EDGES.get(name, (0.5, 0.78))
    if lightness < dark:
        return tr("dark {hue}", hue=tr(name))
    return tr("light {hue}", hue=tr(name)) if lightness > light else tr(name)


def told(meta: Mapping[str, Any], keys: Sequence[str], theme: Theme) -> dict[str, str]:
    """Return a figure's caption for a journal, and its parts: content with symbols, and settings.

    Args:
        meta: the figure's subtitle and, as its caption, the settings.
        keys: lines of its key (Plotly text).
    """
    symbols = tr("; ").join(part for line in keys for part in _entries(line, theme))
    symbols = symbols[:1].upper() + symbols[1:]
    shows = _sentences(meta["subtitle"], symbols)
    settings = meta["caption"]
    return {
        "caption": _sentences(shows, settings),
        "shows": shows,
        "settings": settings,
    }


def _entries(line: str, theme: Theme) -> Iterator[str]:
    """Yield the entries of a key: colour and shape of each sign, and its meaning."""
    before = _text(line.split("<span", 1)[0])
    if before:
        yield before
    own = theme.token_words("").strip(", ()（）")
    for color, sign, words in _ENTRY.findall(line):
        shape, label = plain_of(sign), _text(words)
        name = tr(SHAPES.get(shape, shape))
        # "In the token's colour": the sign's own colour has no meaning.
        if own in label:
            yield tr("{shape}: {meaning}", shape=name, meaning=label)
        else:
            color = color_name(color, theme)
            yield tr("{color} {shape}: {meaning}", color=color, shape=name, meaning=label)


def _text(markup: str) -> str:
    return safe_plain(" ".join(plain_of(markup).replace(NBSP, " ").split()))


def full_caption(meta: Mapping[str, Any]) -> str:
    """Return the caption of a figure without a drawn title: the title first, with exact marks."""
    return exact_plain(tr(sentences(ended(str(meta["title"])), str(meta["caption"]))))


# Marks at the end of a sentence.
_ENDS = tuple(".!?”。！？」")


def _sentences(*texts: str) -> str:
    return tr(sentences(*map(ended, filter(None, texts))))


def ended(text: str) -> str:
    """Return text with a full stop of the reader's language, unless it ends with a mark."""
    return text if text.endswith(_ENDS) else tr("{part}.", part=text)
