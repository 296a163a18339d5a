"""Themes: colours and fonts of all figures, light, dark and grey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...language import N_, tr
from .color import blend, contrast, even_ramp, on_ramp, readable_on

# Exported files embed the page's fonts under the first names; on the page they have the second. The
# next fonts add missing signs and CJK.
SANS = (
    "'Decoding Sans', 'Source Sans', 'Decoding Signs', 'Noto Sans', 'Noto Sans CJK JP', "
    "'Noto Sans JP', "
    "'Noto Sans KR', system-ui, sans-serif, 'Noto Color Emoji'"
)
MONO = (
    "'Decoding Mono', 'Source Code Pro', 'Decoding Signs', 'Noto Sans Mono CJK JP', "
    "'Noto Sans JP', 'Noto Sans KR', "
    "ui-monospace, monospace, 'Noto Color Emoji'"
)

# Okabe and Ito (2008): distinguishable with colour-vision deficiencies.
OKABE_ITO = {
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "purple": "#cc79a7",
    "black": "#000000",
}
# Colours of a step's most probable tokens by rank. Blue is reserved for probabilities, vermillion
# and orange for the chosen token and for uncertainty. The last two colours are darker than all of
# Okabe and Ito's.
CATEGORIES = (*(OKABE_ITO[name] for name in ("green", "purple", "yellow")), "#9c3b6e", "#85853a")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours (`#rrggbb`) and fonts of one theme.

    Args:
        paper: background of the figure.
        panel: background of cells, legends and hover labels.
        ink: text and axes.
        muted: captions, ticks and secondary text; readable on paper.
        grid: grid lines.
        rest: segments that stand for many tokens.
        unnamed: token without a colour of its own.
        accent: frame of the chosen token; used for nothing else.
        wrong: wrong estimate.
        probability: even ramp; its low end is close to the paper.
        uncertainty: even ramp for entropy, surprisal and rank.
        first, second: two lines or two runs in one panel.
        categories: a step's most probable tokens by rank.
        named: categories by the name of their Okabe-Ito colour in light and dark.
        hue: word for a colour of the figure in texts.
        patterns: pattern of a category's colour that lightness alone doesn't distinguish, by
            Plotly's name.
    """

    name: str
    paper: str
    panel: str
    ink: str
    muted: str
    grid: str
    rest: str
    unnamed: str
    accent: str
    wrong: str
    probability: tuple[str, ...]
    uncertainty: tuple[str, ...]
    first: str
    second: str
    categories: tuple[str, ...] = CATEGORIES
    named: Mapping[str, str] = field(default_factory=lambda: OKABE_ITO)
    patterns: Mapping[str, str] = field(default_factory=dict)
    hue: str = N_("colour")
    sans: str = SANS
    mono: str = MONO

    def probability_color(self, prob: float) -> str:
        """Return the colour of a probability; equal differences look equal."""
        return on_ramp(self.probability, prob)

    def uncertainty_color(self, share: float) -> str:
        """Return the colour of an uncertainty; 0 is none, 1 is the top of its scale."""
        return on_ramp(self.uncertainty, share)

    def in_words(self, text: str) -> str:
        """Return a declared text, with the theme's word for a colour as `{hue}` and `{Hue}`."""
        hue = tr(self.hue)
        return tr(text, hue=hue, Hue=hue.capitalize())

    def token_words(self, name: str) -> str:
        """Return the words of a key for a number that is drawn in its token's own colour."""
        return tr("{name}, in the token's {hue}", name=name, hue=tr(self.hue))

    def token_color(self, rank: int) -> str:
        """Return the colour of a step's token by its rank before shaping, which no setting
        changes.
        """
        return self.categories[rank - 1] if 0 < rank <= len(self.categories) else self.unnamed

    def pattern_ink(self, color: str) -> str:
        """Return the line colour of the pattern on a colour."""
        return blend(color, readable_on(color), 0.34)

    def patterned(self, trace: dict[str, Any]) -> dict[str, Any]:
        """Return a trace of bars with the patterns of its colours."""
        marker = trace.get("marker")
        if trace["type"] != "bar" or not isinstance(marker, dict) or "pattern" in marker:
            return trace
        colors = marker.get("color")
        many = list(map(str, colors)) if isinstance(colors, list) else [str(colors)]
        shapes = [self.patterns.get(color, "") for color in many]
        if not any(shapes):
            return trace
        pattern: dict[str, Any] = {"size": 6, "solidity": 0.2}
        if isinstance(colors, list):
            # Only in this mode Plotly uses the bar's own colour as background.
            pattern |= {"shape": shapes, "fillmode": "overlay", "fgopacity": 0.34}
        else:
            pattern |= {
                "shape": shapes[0],
                "fillmode": "replace",
                "bgcolor": colors,
                "fgcolor": self.pattern_ink(many[0]),
            }
        return {**trace, "marker": {**marker, "pattern": pattern}}

    def text_on(self, background: str) -> str:
        """Return a text colour over a cell, with a contrast of 4.5 or more."""
        return readable_on(background, (self.ink, self.paper))

    def colorscale(self) -> list[list[float | str]]:
        """The probability ramp in Plotly's form."""
        last = len(self.probability) - 1
        return [[at / last, color] for at, color in enumerate(self.probability)]

    def accent_text(self) -> str:
        """The accent colour for text, readable on paper."""
        return self.accent if contrast(self.accent, self.paper) >= 4.5 else "#b34700"


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    panel="#f5f7f9",
    ink="#1a1f26",
    muted="#5a6572",
    grid="#e2e7ec",
    rest="#cfd6dd",
    unnamed="#a9b2bb",
    accent="#d55e00",
    wrong="#c1121f",
    probability=even_ramp(("#f8fafc", "#a9d0ec", "#3f8fc9", "#0b3c73")),
    uncertainty=even_ramp(("#fdfaf5", "#f6cf96", "#d97a2b", "#7a2e0a")),
    first="#0072b2",
    second="#b8620a",
)

DARK = Theme(
    name="dark",
    paper="#12161b",
    panel="#1b2129",
    ink="#e8edf2",
    muted="#9aa7b4",
    grid="#2b333d",
    rest="#3b4652",
    unnamed="#66727f",
    accent="#ff9838",
    wrong="#ff6b6b",
    probability=even_ramp(("#171c23", "#1f4a73", "#3f94d1", "#b9dfff")),
    uncertainty=even_ramp(("#1b1a18", "#5f3512", "#d9822f", "#ffe6c4")),
    first="#56b4e9",
    second="#f0a53c",
)

_GREY_NAMED = {
    "orange": "#8a8a8b",
    "sky": "#747475",
    "green": "#a0a0a1",
    "yellow": "#c9c9ca",
    "blue": "#303032",
    "vermillion": "#585859",
    "purple": "#404041",
    "black": "#000000",
}
_GREY_SHAPES = {
    "orange": "\\",
    "sky": "/",
    "green": "|",
    "yellow": ".",
    "vermillion": "x",
    "purple": "-",
}
_GREY_CATEGORIES = ("#4b4b4c", "#adadae", "#6e6e6f", "#c7c7c8", "#8d8d8e")
# Sign of each pattern in a key.
HATCH_SIGNS = {"▨": "/", "▧": "\\", "▩": "x", "▦": ".", "▤": "-", "▥": "|"}
# Lightness distinguishes neighbours, patterns distinguish separate marks. The lightest grey is
# visible on white even without its pattern.
GREY = Theme(
    name="grey",
    paper="#ffffff",
    panel="#f5f5f5",
    ink="#111111",
    muted="#565656",
    grid="#e2e2e2",
    rest="#dfdfdf",
    unnamed="#d3d3d3",
    accent="#000000",
    wrong="#111111",
    probability=even_ramp(("#fafafa", "#bdbdbd", "#777777", "#222222")),
    uncertainty=even_ramp(("#fafafa", "#cfcfcf", "#909090", "#444444")),
    first="#3a3a3b",
    second="#7c7c7d",
    hue=N_("shade"),
    categories=_GREY_CATEGORIES,
    named=_GREY_NAMED,
    patterns={
        **dict(zip(_GREY_CATEGORIES[1:], ("/", "x", ".", "\\"), strict=True)),
        **{_GREY_NAMED[name]: shape for name, shape in _GREY_SHAPES.items()},
    },
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK, GREY)}
