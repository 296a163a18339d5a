"""Web page of figures that needs no server: common parts, and a page with a single figure."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

import plotly.graph_objects as go

from ...decoding.shaping.config import SETTINGS
from ...figures.base.paper import Paper
from ...figures.base.theme import DARK, THEMES, Theme
from ...language import N_, current, tr
from . import bundle
from .chart import LIGHT_AND_DARK, Chart, DrawFigure, chart_of, font_rules, packed

_FOLDER = Path(__file__).parent
_BOTTOM = """<script type="text/plain" id="figures">{data}</script>{plotly}
<script>{script}</script></body></html>
"""
_TOP = """<!doctype html>
<html lang="{language}"{theme}><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>{style}</style></head>
"""
# Texts of the page's scripts.
_SCRIPT_WORDS = (
    N_("As it was run. Move a knob: this page works the step out anew."),
    N_("All {count} other tokens: {share}."),
    N_(
        "All {count} other tokens: {share}. Of them only the sum is stored: a whisker spans what "
        "is possible."
    ),
    N_("Light"),
    N_("Dark"),
    N_(
        "The figure could not be drawn: Plotly's script, which lies beside this page, is missing "
        "or another one."
    ),
    N_("The figure needs a browser of 2023 or newer."),
    N_("greedy"),
    N_("off"),
)
# Plotly adds an empty style sheet and fills it by script.
_EMPTY = bundle.sha256(b"")


@dataclass(frozen=True, slots=True)
class PageLook:
    """Theme of a page of figures, and the location of its Plotly script.

    Args:
        theme: light, dark or grey; None for the reader's choice of light and dark.
        shared: True if Plotly's script is a file beside the page instead of inside it.
    """

    theme: Theme | None = None
    shared: bool = False


def page_of(
    draw: DrawFigure | go.Figure, theme: Theme | None, paper: Paper, *, shared: bool = False
) -> bytes:
    """Return a page with one figure, with the title, caption and background of a paper.

    Args:
        theme: None for the reader's choice of light and dark.
        shared: True if Plotly's script is a file beside the page.
    """
    return figure_page(
        chart_of(draw, (theme,) if theme else LIGHT_AND_DARK, paper),
        PageLook(theme, shared),
        title=paper.title,
        caption=paper.caption,
        transparent=paper.transparent,
    )


def figure_page(
    chart: Chart,
    look: PageLook | None = None,
    *,
    title: bool = True,
    caption: bool = True,
    transparent: bool = False,
) -> bytes:
    """Return a page with one figure, suited for an iframe.

    Args:
        title, caption: True to show them.
        transparent: True for no background.
    """
    shown = "" if title and chart.bare else ' class="hidden"'
    lines = [f"<h1{shown}>{escape(chart.title)}</h1>"]
    if title and chart.bare and chart.subtitle:
        lines.append(f'<p class="said subtitle">{escape(chart.subtitle)}</p>')
    foot = chart.caption if caption and chart.bare else ""
    ground = ' class="clear"' if transparent else ""
    body = f"<body{ground}><main>{framed(chart, lines, foot)}{status()}</main>"
    return page(chart.title, body, [chart], look or PageLook())


def status() -> str:
    """Return the HTML of the page's message about its script."""
    words = tr("The figures of this page are drawn by its script.")
    return f'<p class="said" id="status" role="status"></p><noscript>{escape(words)}</noscript>'


def framed(chart: Chart, above: Sequence[str], below: str = "") -> str:
    """Return the HTML of a figure: heading, sliders, chart and caption."""
    alt = escape(chart.alt, quote=True)
    foot = f"<figcaption>{escape(below)}</figcaption>" if below else ""
    drawn = f'<div class="chart" role="img" aria-label="{alt}"></div>'
    return f"<figure>{''.join(above)}{_knobs(chart)}{drawn}{foot}</figure>"


class KnobRange(NamedTuple):
    """A slider of a setting."""

    name: str
    label: str
    low: float
    high: float
    step: float


def knob_ranges(start: Mapping[str, float], ranked: int) -> list[KnobRange]:
    """Return the sliders that shape a step anew.

    Args:
        start: the run's own settings.
        ranked: number of the most probable tokens that are stored.
    """
    ends = {
        "temperature": (0, max(2, start["temperature"]), 0.05),
        "top_k": (0, max(ranked - 1, start["top_k"]), 1),
        "top_p": (0.01, 1, 0.01),
        "min_p": (0, max(0.5, start["min_p"]), 0.01),
    }
    return [KnobRange(name, tr(SETTINGS[name].label), *values) for name, values in ends.items()]


def _knobs(chart: Chart) -> str:
    """Return the form with the sliders of a step's settings; empty if there are none."""
    data = chart.knobs
    if data is None:
        return ""
    fields = "".join(
        f'<label><span>{escape(knob.label)}</span><b data-of="{knob.name}"></b>'
        f'<input type="range" name="{knob.name}" min="{knob.low:g}" max="{knob.high:g}" '
        f'step="{knob.step:g}"></label>'
        for knob in knob_ranges(data["start"], int(data["ranked"]))
    )
    words = '<p class="said" role="status"></p>'
    reset = f'<button type="button">{escape(tr("Reset"))}</button>'
    return f'<form class="knobs" hidden>{fields}{reset}{words}</form>'


def page(title: str, body: str, charts: Sequence[Chart], look: PageLook) -> bytes:
    """Return a whole page: the body with the figures' data, fonts and scripts."""
    script = _script()
    style = _style(look.theme.name if look.theme else "") + font_rules(charts)
    # Not every browser matches a file with `'self'`.
    beside = " 'self' file:" if look.shared else ""
    scripts = f"'{bundle.sha256(script.encode())}' '{bundle.digest()}'{beside}"
    bottom = _BOTTOM.format(data=packed(charts), plotly=_plotly(shared=look.shared), script=script)
    return "".join((_top(title, style, scripts, look.theme), body, bottom)).encode()


def static_page(title: str, body: str, style: str) -> bytes:
    """Return a page without figures and scripts, in the reader's choice of light and dark.

    Args:
        style: rules beside those of all pages.
    """
    top = _top(title, _style("") + style, "'none'", None)
    return f"{top}{body}</body></html>\n".encode()


def _top(title: str, style: str, scripts: str, theme: Theme | None) -> str:
    """Return a page's head with its content security policy."""
    policy = (
        "default-src 'none'",
        f"script-src {scripts}",
        f"style-src-elem '{bundle.sha256(style.encode())}' '{_EMPTY}'",
        "style-src-attr 'unsafe-inline'",
        "font-src data:",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return _TOP.format(
        language=current(),
        theme=f' data-theme="{theme.name}"' if theme else "",
        policy="; ".join(policy),
        title=escape(title),
        style=style,
    )


@cache
def _plotly(*, shared: bool) -> str:
    if shared:
        return f'<script src="{bundle.NAME}"></script>'
    return f'<script type="text/plain" id="plotly">{b64encode(bundle.packed()).decode()}</script>'


def _script() -> str:
    """Return the page's scripts, with their texts in the reader's language."""
    return words_of_script(_SCRIPT_WORDS) + _scripts()


def words_of_script(texts: Iterable[str]) -> str:
    """Return a script's line with the translations of its texts."""
    words = {text: shown for text in texts if (shown := tr(text)) != text}
    return f"const WORDS = {json.dumps(words, ensure_ascii=False)};\n"


@cache
def _scripts() -> str:
    return "".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("knobs.js", "page.js"))


@cache
def _style(theme: str) -> str:
    """Return the style sheet of a page in this theme; empty for the reader's theme."""
    first = THEMES[theme or "light"]
    dark = f"{{ color-scheme: dark; {_colors(DARK)} }}"
    rules = [f":root {{ color-scheme: {'dark' if first is DARK else 'light'}; {_colors(first)} }}"]
    if not theme:
        rules.append(f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {dark} }}")
    rules += [
        f':root[data-theme="{name}"] {{ color-scheme: {name}; {_colors(THEMES[name])} }}'
        for name in ("light", "dark")
    ]
    return "\n".join([*rules, (_FOLDER / "page.css").read_text(encoding="utf-8")])


def _colors(theme: Theme) -> str:
    colors = {
        "paper": theme.paper,
        "panel": theme.panel,
        "ink": theme.ink,
        "muted": theme.muted,
        "line": theme.grid,
        "first": theme.first,
    }
    return " ".join(f"--{name}: {color};" for name, color in colors.items())
